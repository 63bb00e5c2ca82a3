/** What the connect flow and the hand-over page say of a refused access (specification section 8). */
export const NOT_AUTHORIZED = 'You are not authorized to access this gateway'

export const accessFailed = (reason: string): string => `Failed to access gateway: ${reason}`
