/** The messages of this screen. */
export const IP_DUPLICATE = 'IP already in whitelist'
export const RANGE_DUPLICATE = 'Network range already exists'
export const SAVED = 'Settings saved successfully'

export const loadFailed = (reason: string): string => `Failed to load settings: ${reason}`
export const testFailed = (reason: string): string => `Failed to test IP: ${reason}`
export const saveFailed = (reason: string): string => `Failed to save settings: ${reason}`
