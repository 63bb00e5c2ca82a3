/** What both steps say where no words came with the failure (specification section 8). */
export const LOGIN_FAILED = 'Login failed. Please try again.'
