import { storeContract } from "../store.contract.ts";
import { openFresh } from "./postgres-world.contract.ts";

storeContract("postgres", openFresh);
