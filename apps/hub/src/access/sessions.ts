import type { Principal } from './scope.ts'

/** The authenticated caller of a request: an active user with a live session, or a program with a token of theirs. */
export type Caller = Principal & { username: string; sessionId: string }

/** A call that requires a higher role than its caller has; `call` is its line in the policy. */
export type RefusedCall = { caller: Caller; call: string; sourceIp: string }

/** From where a session is opened, and by which account at a sign-in provider. */
export type SessionOrigin = {
  sourceIp: string
  userAgent: string
  provider?: { linkId: string; session: string | undefined; idToken: string }
}

/** The sessions as requests, and pages that outlive a request, use them; accounts/ creates it. */
export type Sessions = {
  /**
   * Opens a session and returns its access token. Throws `session_ended` when the user was deleted or deactivated
   * meanwhile, or the checked password was replaced.
   */
  start(user: { id: string; passwordHash?: string }, from: SessionOrigin): Promise<string>
  /**
   * Throws `session_required` (no token, or not one of this hub's), `session_ended`, `account_inactive` or, unless it
   * is `evenBeforeTwoFactor`, `two_factor_setup_required`.
   */
  authenticate(token: string, options?: { evenBeforeTwoFactor?: boolean }): Promise<Caller>
  /** Returns a fresh token for a live session and extends the session. Throws `session_ended`. */
  renew(caller: Caller): Promise<string>
  /** Also reports a token whose row is gone. */
  end(sessionId: string): Promise<void>
  /** Also reports sessions whose rows a transaction has already deleted. */
  endAllOf(userId: string): Promise<void>
  /** The caller of a live session of an active user who may do more than set up two-factor. */
  find(sessionId: string): Promise<Caller | undefined>
  /** The same at once, when it is known from a moment ago; undefined says nothing. */
  remembered(sessionId: string): Caller | undefined
  /** `listener` is called for each session that ends or expires. Returns the function that unsubscribes. */
  onEnded(listener: (sessionId: string) => void): () => void
  stop(): Promise<void>
}
