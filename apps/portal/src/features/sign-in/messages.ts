export const LOGIN_HEAD = { title: 'Sign in to the hub', lead: 'See your gateways and open their pages.' }

/** The message of both steps for a failure without its own. */
export const LOGIN_FAILED = 'Login failed. Please try again.'
