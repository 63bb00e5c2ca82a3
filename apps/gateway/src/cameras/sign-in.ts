/**
 * Waits after wrong passwords: many cameras lock an account after three to five. All channels of a recorder (the same
 * host, port, user name and password) share one wait, because it counts their tries together.
 */
type Wait = { refusals: number; until: number }

type Account = {
  wait: Wait
  /** Whose connections gave a picture and have not ended. */
  signedIn: Set<object>
  /** Who wants to try, in order: while nobody is signed in, one tries at a time. */
  line: Set<object>
  trying: { by: object; since: number } | undefined
}

export type SignIn = {
  /** Whether a connection may begin; asked again and again until it may. */
  mayTry(): boolean
  /** How many minutes it waits because of a wrong password; undefined when it does not. */
  waitMinutes(): number | undefined
  /** The connection gave a picture. */
  accepted(): void
  /** The connection ended, or the camera does not want one any more. */
  ended(how: { isRefused: boolean }): void
}

const PAUSES_MINUTES = [1, 5, 15] as const
const minutesAfter = (refusals: number) => PAUSES_MINUTES[refusals - 1] ?? PAUSES_MINUTES.at(-1)!
/** Cameras refuse sooner than this; then the next channel tries as well. */
const ANSWER_MS = 10_000
const NO_WAIT: Wait = { refusals: 0, until: -Infinity }
const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'rtsp:': '554', 'rtsps:': '322' }

/** They outlive their cameras, which begin anew with each change of gateway.yaml. */
const accounts = new Map<string, Account>()

export function openSignIn(address: string, clock: () => number): SignIn {
  const self = {}
  const account = accountOf(new URL(address))
  /** Of a channel that this account may not see, while it may see others. */
  let own = NO_WAIT
  let wasAccepted = false

  const current = () => [account.wait, own].find(({ until }) => until > clock())
  const longer = ({ refusals }: Wait): Wait => ({
    refusals: refusals + 1,
    until: clock() + minutesAfter(refusals + 1) * 60_000,
  })

  return {
    mayTry() {
      const { line, trying, signedIn } = account
      if (own.until <= clock()) line.add(self)
      if (current()) return false
      const isFree = !trying || clock() - trying.since > ANSWER_MS
      if (signedIn.size === 0 && !(isFree && line.values().next().value === self)) return false
      line.delete(self)
      account.trying = { by: self, since: clock() }
      return true
    },
    waitMinutes() {
      const wait = current()
      return wait && minutesAfter(wait.refusals)
    },
    accepted() {
      account.signedIn.add(self)
      account.wait = own = NO_WAIT
      wasAccepted = true
    },
    ended({ isRefused }) {
      if (account.trying?.by === self) account.trying = undefined
      account.signedIn.delete(self)
      account.line.delete(self)
      if (!isRefused || current()) return
      // Where the account sees other channels and never saw this one, its password is right.
      if (account.signedIn.size > 0 && !wasAccepted) own = longer(own)
      else account.wait = longer(account.wait)
      wasAccepted = false
    },
  }
}

function accountOf({ protocol, hostname, port, username, password }: URL): Account {
  const account: Account = { wait: NO_WAIT, signedIn: new Set(), line: new Set(), trying: undefined }
  if (username === '' && password === '') return account
  const key = [hostname.toLowerCase(), port || PORTS[protocol], username, password].join(' ')
  const existing = accounts.get(key) ?? account
  accounts.set(key, existing)
  return existing
}
