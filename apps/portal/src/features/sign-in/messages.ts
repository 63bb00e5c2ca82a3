/** The message of both steps for a failure without its own. */
export const LOGIN_FAILED = 'Login failed. Please try again.'
