/**
 * The session: validated at the start, and ended by a refusal (client.ts), by signing out, or by another tab. Screens
 * use `useUser`; only the sign-in page and the routes read the state.
 */
import { TOKEN_STORAGE_KEY } from '@hedgerow/contract/constants'
import type { BodyOf, ResponseOf, SessionUser } from '@hedgerow/contract'
import {
  completeProviderSignIn,
  login,
  loginTwoFactor,
  logout,
  logoutAtProvider,
  validateSession,
} from 'virtual:contract-calls'
import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { askTwice } from '@hedgerow/ui/ask-twice.ts'
import { continuePush, endPush } from './browser-push.ts'
import { api, ApiError, listenToSession } from './client.ts'
import { dropDrafts, keepDraftsOnlyFor, saveOpenDrafts } from './drafts.ts'
import { holdLink, linkWaiting } from './provider-sign-in.ts'
import { renewWhileActive } from './renewal.ts'
import { clearExpiredMessage, clearToken, hasToken, readToken, writeToken } from './token.ts'

export type SessionState =
  | { status: 'loading' }
  | { status: 'visitor'; signedOut: boolean }
  | { status: 'signed-in'; user: SessionUser }

type Session = {
  state: SessionState
  /** Throws ApiError. Returns the challenge if a second step follows. */
  signIn: (credentials: BodyOf<typeof login>) => Promise<string | undefined>
  /** The second step. Throws ApiError. */
  confirmSignIn: (answer: BodyOf<typeof loginTwoFactor>) => Promise<void>
  /** Throws ApiError. False: the person has to sign in with a password, which links the accounts. */
  signInAtProvider: (provider: string, answer: BodyOf<typeof completeProviderSignIn>) => Promise<boolean>
  /** Reads the person again after a change to their account. Throws ApiError. */
  refresh: () => Promise<void>
  signOut: () => Promise<void>
}

type SignedIn = ResponseOf<typeof loginTwoFactor>

const SessionContext = createContext<Session | null>(null)

export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState<SessionState>(() =>
    hasToken() ? { status: 'loading' } : { status: 'visitor', signedOut: false },
  )
  const enter = useCallback(({ accessToken, user }: SignedIn) => {
    writeToken(accessToken)
    clearExpiredMessage()
    keepDraftsOnlyFor(ownerOf(user))
    setState({ status: 'signed-in', user })
    continuePush(user.id).catch((error: unknown) => console.error('Push messages did not continue:', error))
  }, [])
  const here = useRef<SessionUser | undefined>(undefined)
  useEffect(() => {
    here.current = state.status === 'signed-in' ? state.user : undefined
  }, [state])
  const leave = useCallback((signedOut: boolean) => {
    if (signedOut) dropDrafts()
    else if (here.current !== undefined) saveOpenDrafts(ownerOf(here.current))
    setState({ status: 'visitor', signedOut })
  }, [])

  useEffect(
    () =>
      listenToSession({
        onEnded: () => leave(false),
        onSetUpRequired: () =>
          setState((now) =>
            now.status === 'signed-in' ? { ...now, user: { ...now.user, mustSetUpTwoFactor: true } } : now,
          ),
      }),
    [leave],
  )

  useEffect(() => {
    const controller = new AbortController()
    const recognise = async () => {
      try {
        const user = await validate(controller.signal)
        keepDraftsOnlyFor(ownerOf(user))
        setState({ status: 'signed-in', user })
      } catch (error) {
        if (controller.signal.aborted) return
        console.error('Session validation failed:', error)
        clearToken()
        leave(false)
      }
    }
    const onStorage = (event: StorageEvent) => {
      if (event.key !== TOKEN_STORAGE_KEY && event.key !== null) return
      if (readToken() === null) leave(false)
      else void recognise()
    }
    if (readToken() !== null) void recognise()
    window.addEventListener('storage', onStorage)
    return () => {
      controller.abort()
      window.removeEventListener('storage', onStorage)
    }
  }, [leave])

  const signedIn = state.status === 'signed-in'
  useEffect(() => (signedIn ? renewWhileActive() : undefined), [signedIn])

  const session = useMemo<Session>(
    () => ({
      state,
      signIn: async (credentials) => {
        const answer = await api(login, { body: credentials })
        if ('challenge' in answer) return answer.challenge
        enter(await linked(answer))
        return undefined
      },
      confirmSignIn: async (answer) => enter(await linked(await api(loginTwoFactor, { body: answer }))),
      signInAtProvider: async (provider, body) => {
        const answer = await api(completeProviderSignIn, { params: { provider }, body })
        if ('link' in answer) holdLink(answer.link)
        else enter(answer)
        return !('link' in answer)
      },
      refresh: async () => setState({ status: 'signed-in', user: await api(validateSession, {}) }),
      signOut: async () => {
        // The hub ends the session too. If it can't be reached, this browser still drops the token.
        const atProvider = await endSession(here.current?.provider !== undefined).catch((error: unknown) => {
          console.error('Sign-out was not confirmed by the hub:', error)
          return null
        })
        clearToken()
        clearExpiredMessage()
        endPush().catch((error: unknown) => console.error('Push messages did not end in this browser:', error))
        if (atProvider === null) return leave(true)
        dropDrafts()
        setState({ status: 'loading' })
        location.assign(atProvider)
      },
    }),
    [state, enter, leave],
  )
  return <SessionContext value={session}>{children}</SessionContext>
}

/** Returns the page where the session ends at the provider that opened it, if it has one. */
async function endSession(isOfProvider: boolean): Promise<string | null> {
  if (isOfProvider) return (await api(logoutAtProvider, {})).url
  await api(logout, {})
  return null
}

/** Links a waiting account at a provider with the account of this sign-in, which ends when that fails. */
async function linked(signedIn: SignedIn): Promise<SignedIn> {
  writeToken(signedIn.accessToken)
  try {
    await linkWaiting()
  } catch (error) {
    await api(logout, {}).catch(() => undefined)
    clearToken()
    throw error
  }
  return signedIn
}

const validate = (signal: AbortSignal): Promise<SessionUser> =>
  askTwice(
    () => api(validateSession, { signal }),
    (error) => error instanceof ApiError && (error.status === 0 || error.status >= 500),
  )

/** Includes the role: after a change of role, the person may no longer do the work of a draft. */
const ownerOf = ({ id, role }: SessionUser): string => `${id} ${role}`

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('useSession needs a SessionProvider around it')
  return session
}

/** The signed-in person; throws outside the routes that require one. */
export function useUser(): SessionUser {
  const { state } = useSession()
  if (state.status !== 'signed-in') throw new Error('useUser needs a signed-in session')
  return state.user
}
