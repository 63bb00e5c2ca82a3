/**
 * /proxy/gateway/:id: hands a signed-in person over to the origin of the gateway, or of one of its applications. The
 * hub never serves a gateway's pages from its own (docs/security.md); it issues a ticket, and a form posts it in the
 * same tab. Where the browser does not reach that origin, this page takes the other way or says what is wrong.
 */
import { Button, Loader } from '@mantine/core'
import type { GatewayWay } from '@hedgerow/contract'
import { useEffect, useState, type ReactNode } from 'react'
import { gatewayUiTicket } from 'virtual:contract-calls'
import { Link, useParams, useSearchParams } from 'react-router'
import { api, ApiError, messageOf } from '#api/client.ts'
import { accessFailed } from '#api/access-messages.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { comesBackFrom, forgetHandOvers, handOver, isReachable, LATE_MS, localPath, watchPolicy } from './hand-over.ts'
import { Unreachable, wantsConsent } from './unreachable.tsx'
import styles from './page.module.css'

type Problem = {
  words: ReactNode
  /** The gateway itself may still be open to this person. */
  isOfApplication?: boolean
  /** The way on which the browser got no answer; it may go there all the same. */
  unanswered?: { way: GatewayWay | undefined }
  /** Where the browser may first want the person's consent to the hub's certificate; the gateway opens after it. */
  consentAt?: string | undefined
}

/** One try: by this way if the hub has it, and perhaps without looking first whether the browser gets there. */
type Try = { way: GatewayWay | undefined; isChecked: boolean }

const FIRST_TRY: Try = { way: undefined, isChecked: true }

export function HandoverPage() {
  const [search] = useSearchParams()
  return <Opening key={search.toString()} />
}

/** The way to one place, which another address replaces together with its problem. */
function Opening() {
  const id = useParams()['id'] ?? ''
  const [attempt, setAttempt] = useState(FIRST_TRY)
  const [problem, setProblem] = useState<Problem | null>(null)
  const tryAgain = (next: Try) => {
    forgetHandOvers()
    setAttempt(next)
    setProblem(null)
  }
  return (
    <div className={styles.page}>
      <PageHead title={problem === null ? 'Opening the gateway' : 'The gateway did not open'} />
      {problem === null ? (
        <Handover attempt={attempt} onProblem={setProblem} />
      ) : (
        <>
          {problem.words}
          <div className={styles.ways}>
            {problem.consentAt !== undefined && (
              <Button component="a" href={problem.consentAt}>
                Accept the certificate
              </Button>
            )}
            {problem.isOfApplication ? (
              <Button component={Link} to={`/proxy/gateway/${id}`}>
                Open the gateway’s own interface
              </Button>
            ) : (
              <Button
                variant={problem.consentAt === undefined ? 'filled' : 'default'}
                onClick={() => tryAgain(FIRST_TRY)}
              >
                Try again
              </Button>
            )}
            {problem.unanswered && (
              <Button variant="default" onClick={() => tryAgain({ way: problem.unanswered?.way, isChecked: false })}>
                Continue anyway
              </Button>
            )}
            <Button component={Link} to="/gateways" variant="default">
              Back to the gateways
            </Button>
          </div>
        </>
      )}
    </div>
  )
}

function problemOf(error: unknown): Problem {
  if (error instanceof ApiError && error.code === 'application_role_required')
    return { words: <Notice tone="danger">{error.message}</Notice>, isOfApplication: true }
  return { words: <Notice tone="danger">{accessFailed(messageOf(error))}</Notice> }
}

/** What is under way, and the words for it once it takes long. `reach` has a limit of its own. */
const STEPS = {
  ticket: 'The hub has not answered yet.',
  reach: undefined,
  gateway:
    'The gateway’s page has not answered yet. The hub waits for it up to a minute, and then says what is wrong ' +
    'with it.',
} as const

/** One try, made when it is mounted. If it succeeds, the browser leaves this page. */
function Handover({ attempt, onProblem }: { attempt: Try; onProblem: (problem: Problem) => void }) {
  const id = useParams()['id'] ?? ''
  const [search] = useSearchParams()
  const path = localPath(search.get('path'))
  const application = search.get('application') ?? undefined
  const [step, setStep] = useState<keyof typeof STEPS>('ticket')
  const [instead, setInstead] = useState<string | null>(null)
  const isLate = useLateness(step)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    async function open({ way, isChecked }: Try, before: readonly string[]): Promise<void> {
      setStep('ticket')
      const issued = await api(gatewayUiTicket, { params: { id }, query: { application, way }, signal })
      const { origin } = new URL(issued.action)
      const origins = [origin, ...before]
      if (isChecked) {
        setStep('reach')
        const isLost = comesBackFrom(origin)
        const isThere = !isLost && (await isReachable(origin, signal))
        signal.throwIfAborted()
        if (!isThere && issued.otherWay !== null && before.length === 0) {
          setInstead(origin)
          return open({ way: issued.otherWay, isChecked }, origins)
        }
        if (isLost) return onProblem({ words: <CookieLost origin={origin} /> })
        const consentAt = wantsConsent(origin) ? `${origin}${path}` : undefined
        if (!isThere)
          return onProblem({ words: <Unreachable {...{ origins, path }} />, unanswered: { way }, consentAt })
      }
      setStep('gateway')
      const unwatch = watchPolicy(issued.action, path, () => onProblem({ words: <Blocked origin={origin} /> }))
      signal.addEventListener('abort', unwatch)
      handOver(issued, path)
    }
    open(attempt, []).catch((error: unknown) => {
      if (!signal.aborted) onProblem(problemOf(error))
    })
    return () => controller.abort()
  }, [id, application, path, attempt, onProblem])
  return (
    <>
      <output className={styles.working}>
        <Loader size={18} aria-hidden="true" /> Opening the gateway’s own page through the hub’s tunnel.
      </output>
      {instead !== null && (
        <Notice tone="plain">
          The way by {instead} does not work in your browser, so this takes the other way to the gateway.
        </Notice>
      )}
      {isLate && STEPS[step] !== undefined && (
        <>
          <Notice tone="warning">{STEPS[step]}</Notice>
          <div className={styles.ways}>
            <Button component={Link} to="/gateways" variant="default">
              Back to the gateways
            </Button>
          </div>
        </>
      )}
    </>
  )
}

function Blocked({ origin }: { origin: string }) {
  return (
    <Notice tone="danger">
      The content security policy of this page does not let the browser go to {origin}. A proxy in front of the hub may
      have changed the policy: it must pass the hub’s headers on.
    </Notice>
  )
}

function CookieLost({ origin }: { origin: string }) {
  return (
    <Notice tone="danger">
      Your browser comes back from {origin} without the cookie of your session there. Let it keep cookies of that
      address.
    </Notice>
  )
}

/** Whether this step takes longer than people wait without a word. */
function useLateness(step: string): boolean {
  const [late, setLate] = useState<string | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setLate(step), LATE_MS)
    return () => clearTimeout(timer)
  }, [step])
  return late === step
}
