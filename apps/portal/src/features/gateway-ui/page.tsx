/**
 * /proxy/gateway/:id: hands a signed-in person over to the origin of the gateway, or of one of its applications. The
 * hub never serves a gateway's pages from its own (docs/security.md); it issues a ticket, and a form posts it in the
 * same tab.
 */
import { Button, Loader } from '@mantine/core'
import { useEffect, useState } from 'react'
import { gatewayUiTicket } from 'virtual:contract-calls'
import { Link, useParams, useSearchParams } from 'react-router'
import { api, ApiError, messageOf } from '#api/client.ts'
import { accessFailed } from '#api/access-messages.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { handOver } from './hand-over.ts'
import styles from './page.module.css'

type Problem = {
  words: string
  /** The gateway itself may still be open to this person. */
  isOfApplication: boolean
}

export function HandoverPage() {
  const [search] = useSearchParams()
  return <Way key={search.toString()} />
}

/** The way to one place, which another address replaces together with its problem. */
function Way() {
  const id = useParams()['id'] ?? ''
  const [problem, setProblem] = useState<Problem | null>(null)
  return (
    <div className={styles.page}>
      <PageHead title={problem === null ? 'Opening the gateway' : 'The gateway did not open'} />
      {problem === null ? (
        <Handover onProblem={setProblem} />
      ) : (
        <>
          <Notice tone="danger">{problem.words}</Notice>
          <div className={styles.ways}>
            {problem.isOfApplication ? (
              <Button component={Link} to={`/proxy/gateway/${id}`}>
                Open the gateway’s own interface
              </Button>
            ) : (
              <Button onClick={() => setProblem(null)}>Try again</Button>
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
    return { words: error.message, isOfApplication: true }
  return { words: accessFailed(messageOf(error)), isOfApplication: false }
}

/** One try, made when it is mounted. If it succeeds, the browser leaves this page. */
function Handover({ onProblem }: { onProblem: (problem: Problem) => void }) {
  const id = useParams()['id'] ?? ''
  const [search] = useSearchParams()
  const path = search.get('path')
  const application = search.get('application') ?? undefined
  useEffect(() => {
    const controller = new AbortController()
    const open = async () => {
      try {
        handOver(
          await api(gatewayUiTicket, { params: { id }, query: { application }, signal: controller.signal }),
          path,
        )
      } catch (error) {
        if (!controller.signal.aborted) onProblem(problemOf(error))
      }
    }
    void open()
    return () => controller.abort()
  }, [id, application, path, onProblem])
  return (
    <output className={styles.working}>
      <Loader size={18} aria-hidden="true" /> Opening the gateway’s own page through the hub’s tunnel.
    </output>
  )
}
