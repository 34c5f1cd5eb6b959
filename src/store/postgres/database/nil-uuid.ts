/** Below every id, where a walk in order of ids begins (RFC 9562 §5.9). */
export const NIL_UUID = "00000000-0000-0000-0000-000000000000";
