/** The sentence of both steps for a failure without a message. */
export const LOGIN_FAILED = 'Login failed. Please try again.'
