/**
 * /proxy/gateway/:id: hands a signed-in person over to the gateway's own origin. The hub never serves a gateway's
 * pages from its own (docs/security.md); it gives out a ticket, and a form carries it across in the same tab.
 */
import { gatewayUiTicket } from '@hedgerow/contract'
import { Button, Loader } from '@mantine/core'
import { useCallback, useEffect, useState } from 'react'
import { Link, useParams, useSearchParams } from 'react-router'
import { api, isForbidden, messageOf } from '#api/client.ts'
import { Notice } from '#ui/notice.tsx'
import { PageHead } from '#ui/page-head.tsx'
import { handOver } from './hand-over.ts'
import styles from './page.module.css'

export function HandoverPage() {
  const id = useParams()['id'] ?? ''
  const path = useSearchParams()[0].get('path')
  const [problem, setProblem] = useState<string | null>(null)

  const open = useCallback(
    async (signal?: AbortSignal) => {
      setProblem(null)
      try {
        handOver(await api(gatewayUiTicket, { params: { id }, ...(signal === undefined ? {} : { signal }) }), path)
      } catch (error) {
        if (signal?.aborted === true) return
        const reason = isForbidden(error)
          ? 'You are not authorized to access this gateway'
          : `Failed to access gateway: ${messageOf(error)}`
        setProblem(reason)
      }
    },
    [id, path],
  )
  useEffect(() => {
    const controller = new AbortController()
    void open(controller.signal)
    return () => controller.abort()
  }, [open])

  return (
    <div className={styles.page}>
      <PageHead title={problem === null ? 'Opening the gateway' : 'The gateway did not open'} />
      {problem === null ? (
        <p className={styles.working} role="status">
          <Loader size={18} aria-hidden="true" /> Handing over to the gateway’s own page, through the hub’s tunnel.
        </p>
      ) : (
        <>
          <Notice tone="danger">{problem}</Notice>
          <div className={styles.ways}>
            <Button onClick={() => void open()}>Try again</Button>
            <Button component={Link} to="/gateways" variant="default">
              Back to the gateways
            </Button>
          </div>
        </>
      )}
    </div>
  )
}
