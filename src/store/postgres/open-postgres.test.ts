import { storeContract } from "../store.contract.ts";
import { openEmptied } from "./postgres-world.contract.ts";

storeContract("postgres", openEmptied);
