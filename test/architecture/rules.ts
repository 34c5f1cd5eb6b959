import {
  buildsImportNoTests,
  buildsImportWhatTheyDeclare,
  consoleStandsAlone,
  coreImportsOnlyCore,
  enginesStandAlone,
  modulesKeepToTheirInterfaces,
  modulesThatMeetInTheStore,
  packagesStayAtHome,
  smppIsLayered,
} from "./dependency-rules.ts";
import { fewPositionalParameters, filesAreShort, functionsAreShort, shallowNesting } from "./limit-rules.ts";
import {
  declaredNamesSaySomething,
  fileNamesSaySomething,
  filesAreNamedAfterWhatTheyHold,
  noBarrels,
} from "./name-rules.ts";
import { objectsAreWrittenOut } from "./object-rules.ts";
import {
  bunStaysAtHome,
  onlyCliReadsTheEnvironment,
  timeAndChanceAreArguments,
} from "./portability-rules.ts";
import type { Rule } from "./source.ts";
import { sqlStaysInTheStore } from "./sql-rules.ts";
import {
  alikeObjectsAreEachCompared,
  noSilentSkips,
  pagesAreLookedAtFromOutside,
  storiesAreToldOnBothStores,
} from "./test-rules.ts";

/** Every rule of the architecture that a machine can check. CONTRIBUTING.md says them in words. */
export const RULES: readonly Rule[] = [
  coreImportsOnlyCore,
  modulesKeepToTheirInterfaces,
  modulesThatMeetInTheStore,
  packagesStayAtHome,
  sqlStaysInTheStore,
  enginesStandAlone,
  smppIsLayered,
  consoleStandsAlone,
  buildsImportNoTests,
  buildsImportWhatTheyDeclare,
  timeAndChanceAreArguments,
  onlyCliReadsTheEnvironment,
  bunStaysAtHome,
  filesAreNamedAfterWhatTheyHold,
  fileNamesSaySomething,
  declaredNamesSaySomething,
  noBarrels,
  filesAreShort,
  functionsAreShort,
  fewPositionalParameters,
  shallowNesting,
  objectsAreWrittenOut,
  noSilentSkips,
  storiesAreToldOnBothStores,
  alikeObjectsAreEachCompared,
  pagesAreLookedAtFromOutside,
];
