/** Calls that the service makes of a store, by dice, made of two engines at once: both have to answer alike. */
import { identifyUser, registerDevice } from "./device-calls.ts";
import { expireAll, meetEdge, stageAll } from "./edge-calls.ts";
import type { Ground } from "./engine-ground.ts";
import { eraseRecipient, goOnErasing } from "./erase-calls.ts";
import { acceptEmail, acceptSms, cancel } from "./intake-calls.ts";
import { heartbeat } from "./lease-calls.ts";
import { keepPolicy } from "./policy-calls.ts";
import { claim, expire, release, settle, stage } from "./queue-calls.ts";
import {
  answerLate,
  askOverdue,
  dropParked,
  flagOverdue,
  receive,
  refuseLate,
  shareParked,
} from "./receipt-calls.ts";
import { addWebhookSecret, changeRecord, changeSettings } from "./record-calls.ts";
import { payReceipts, simulate } from "./simulator-calls.ts";
import { fromHandset, prune, suppress, wipe } from "./upkeep-calls.ts";
import {
  claimWebhooks,
  readFeed,
  replay,
  replayAll,
  settleWebhooks,
  stageWebhooks,
} from "./webhook-calls.ts";

/** The steps, with how often each is made. */
export const WEIGHTS = {
  acceptSms: 4,
  acceptEmail: 3,
  cancel: 1,
  claim: 5,
  settle: 8,
  release: 1,
  stage: 4,
  expire: 1,
  wait: 3,
  receive: 7,
  answerLate: 2,
  refuseLate: 2,
  flagOverdue: 1,
  askOverdue: 3,
  shareParked: 1,
  dropParked: 0.4,
  claimWebhooks: 2,
  settleWebhooks: 3,
  stageWebhooks: 1,
  replay: 1.5,
  replayAll: 1,
  readFeed: 0.5,
  simulate: 0.5,
  payReceipts: 0.5,
  fromHandset: 1,
  suppress: 0.5,
  wipe: 0.5,
  eraseRecipient: 0.5,
  goOnErasing: 1,
  prune: 0.2,
  registerDevice: 1,
  identifyUser: 1,
  meetEdge: 1.5,
  stageAll: 1,
  expireAll: 0.5,
  changeRecord: 3,
  changeSettings: 1,
  addWebhookSecret: 0.3,
  keepPolicy: 0.5,
  heartbeat: 0.3,
} as const;

export type StepName = keyof typeof WEIGHTS;

/** Each resolves with what came of it: `false`, 0 and lists without an entry say that nothing did. */
export const STEPS: Readonly<Record<StepName, (ground: Ground) => Promise<unknown>>> = {
  acceptSms,
  acceptEmail,
  cancel,
  claim,
  settle,
  release,
  stage,
  expire,
  async wait({ clock, dice }) {
    clock.now += dice.oneOf([-2_000, 500, 2_000, 10_000, 30_000, 400_000]);
    return true;
  },
  receive,
  answerLate,
  refuseLate,
  flagOverdue,
  askOverdue,
  shareParked,
  dropParked,
  claimWebhooks,
  settleWebhooks,
  stageWebhooks,
  replay,
  replayAll,
  readFeed,
  simulate,
  payReceipts,
  fromHandset,
  suppress,
  wipe,
  eraseRecipient,
  goOnErasing,
  prune,
  registerDevice,
  identifyUser,
  meetEdge,
  stageAll,
  expireAll,
  changeRecord,
  changeSettings,
  addWebhookSecret,
  keepPolicy,
  heartbeat,
};
