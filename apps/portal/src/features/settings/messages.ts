/** The messages of this screen. */
export const SAVED = 'Settings saved successfully'
export const NOT_SAVED = 'Failed to save settings'
