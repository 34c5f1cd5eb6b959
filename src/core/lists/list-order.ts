/** Which rows of a list come first, if the caller may choose. */
export const LIST_ORDERS = ["oldest", "newest"] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];
