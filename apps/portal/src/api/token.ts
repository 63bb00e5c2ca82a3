import { TOKEN_STORAGE_KEY } from '@hedgerow/contract/constants'

const EXPIRED_KEY = 'hubSessionExpired'

/** The access token, shared by all tabs of this browser. */
export const readToken = (): string | null => localStorage.getItem(TOKEN_STORAGE_KEY)
/** The build draws the pages of visitors, too; it has no storage. */
export const hasToken = (): boolean => typeof window !== 'undefined' && readToken() !== null
export const writeToken = (token: string): void => localStorage.setItem(TOKEN_STORAGE_KEY, token)
export const clearToken = (): void => localStorage.removeItem(TOKEN_STORAGE_KEY)

/** The message of the sign-in page after a session has ended; stored, so that it survives a reload. */
export const readExpiredMessage = (): string | null => sessionStorage.getItem(EXPIRED_KEY)
export const writeExpiredMessage = (message: string): void => sessionStorage.setItem(EXPIRED_KEY, message)
export const clearExpiredMessage = (): void => sessionStorage.removeItem(EXPIRED_KEY)
