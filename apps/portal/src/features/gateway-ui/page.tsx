/**
 * /proxy/gateway/:id: hands a signed-in person over to the origin of the gateway, or of one of its applications. The
 * hub never serves a gateway's pages from its own (docs/security.md); it issues a ticket, and a form posts it in the
 * same tab.
 */
import { Button, Loader } from '@mantine/core'
import { useEffect, useState } from 'react'
import { gatewayUiTicket } from 'virtual:contract-calls'
import { Link, useParams, useSearchParams } from 'react-router'
import { api, isForbidden, messageOf } from '#api/client.ts'
import { accessFailed, NOT_AUTHORIZED } from '#api/access-messages.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { handOver } from './hand-over.ts'
import styles from './page.module.css'

export function HandoverPage() {
  const [problem, setProblem] = useState<string | null>(null)
  return (
    <div className={styles.page}>
      <PageHead title={problem === null ? 'Opening the gateway' : 'The gateway did not open'} />
      {problem === null ? (
        <Handover onProblem={setProblem} />
      ) : (
        <>
          <Notice tone="danger">{problem}</Notice>
          <div className={styles.ways}>
            <Button onClick={() => setProblem(null)}>Try again</Button>
            <Button component={Link} to="/gateways" variant="default">
              Back to the gateways
            </Button>
          </div>
        </>
      )}
    </div>
  )
}

/** One try, made when it is mounted. If it succeeds, the browser leaves this page. */
function Handover({ onProblem }: { onProblem: (problem: string) => void }) {
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
        if (!controller.signal.aborted) onProblem(isForbidden(error) ? NOT_AUTHORIZED : accessFailed(messageOf(error)))
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
