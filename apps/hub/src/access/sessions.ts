import type { Role } from '@hedgerow/contract'

/** Who makes a request: an active user with a living session. */
export type Caller = { userId: string; username: string; role: Role; sessionId: string }

/** A call that asks for a higher role than its caller's; `call` is its line in the policy. */
export type RefusedCall = { caller: Caller; call: string; sourceIp: string }

/** What requests, and pages that outlive a request, need of sessions; accounts/ makes it. */
export type Sessions = {
  /**
   * Opens a session and gives its access token. Throws `session_ended` when the user is gone or inactive by now, or
   * when the password is no longer the one whose hash was checked.
   */
  start(user: { id: string; passwordHash?: string }, from: { sourceIp: string; userAgent: string }): Promise<string>
  /**
   * Throws `session_required` (no token, or not one of this hub's), `session_ended`, `account_inactive` or, unless it
   * is `evenBeforeTwoFactor`, `two_factor_setup_required`.
   */
  authenticate(token: string, options?: { evenBeforeTwoFactor?: boolean }): Promise<Caller>
  /** A fresh token for a living session, which now ends later. Throws `session_ended`. */
  renew(caller: Caller): Promise<string>
  end(sessionId: string): Promise<void>
  /** Also tells of those whose rows a transaction has already deleted. */
  endAllOf(userId: string): Promise<void>
  /** The caller of a living session of an active user who may do more than set two-factor up. */
  find(sessionId: string): Promise<Caller | undefined>
  /** Hears of each session that ends, also by running out. Gives the function that stops listening. */
  onEnded(listener: (sessionId: string) => void): () => void
  stop(): Promise<void>
}
