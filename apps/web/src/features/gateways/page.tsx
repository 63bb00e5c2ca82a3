/**
 * Gateway Management: the fleet's summary and its table, and one dialog per verb. What a gateway may be asked to do
 * is decided by the hub; here it is only said in advance.
 */
import type { Gateway } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { messageOf } from '#api/client.ts'
import { useGateways } from '#api/gateways.ts'
import { MANAGER_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { FigureStrip } from '#ui/figure-strip.tsx'
import { KeyIcon, PlusIcon, RefreshIcon } from '#ui/icons.tsx'
import { Notice } from '#ui/notice.tsx'
import { PageHead } from '#ui/page-head.tsx'
import { PanelEmpty, PanelError, PanelSkeleton } from '#ui/panel-states.tsx'
import { Panel } from '#ui/panel.tsx'
import { ReasonedButton } from '#ui/reasoned-button.tsx'
import type { GatewayVerb, OpenDialog } from './dialogs.tsx'
import { Find } from './find.tsx'
import { noMatch } from './messages.ts'
import { NoGateways } from './no-gateways.tsx'
import { searchGateways } from './search.ts'
import { GatewayTable } from './table.tsx'
import { useView } from './use-view.ts'
import { sortGateways } from './view.ts'

const Dialogs = lazy(() => import('./dialogs.tsx'))

const NONE: readonly Gateway[] = []

export function GatewaysPage() {
  const { role } = useUser()
  const gateways = useGateways()
  const [parameters, setParameters] = useSearchParams()
  const scanned = parameters.get('token')
  const [dialog, setDialog] = useState<OpenDialog | null>(
    scanned === null ? null : { verb: 'claim', deviceToken: scanned },
  )
  const [view, setView] = useView()
  const [refreshing, setRefreshing] = useState(false)
  const deferred = useDeferredValue(view)

  // A QR label opens this page with the device's token; it leaves the address, so that a reload does not ask again.
  useEffect(() => {
    if (scanned === null) return
    setParameters(
      (current) => {
        current.delete('token')
        return current
      },
      { replace: true },
    )
  }, [scanned, setParameters])

  const all = gateways.data ?? NONE
  const { search, status, sort, descending } = deferred
  const sorted = useMemo(
    () => sortGateways(all, { search: '', status: 'any', sort, descending }),
    [all, sort, descending],
  )
  const shown = useMemo(() => {
    const some = status === 'any' ? sorted : sorted.filter((gateway) => gateway.status === status)
    return searchGateways(some, search)
  }, [sorted, status, search])
  const figures = useMemo(() => summarize(gateways.data), [gateways.data])
  const refresh = async () => {
    setRefreshing(true)
    await gateways.refetch()
    setRefreshing(false)
  }
  const openVerb = useCallback((verb: GatewayVerb, gateway: Gateway) => setDialog({ verb, gateway }), [])
  const filtered = view.search !== '' || view.status !== 'any'

  return (
    <>
      <PageHead
        title="Gateway Management"
        tab="Gateways"
        actions={
          <>
            <Button variant="default" leftSection={<RefreshIcon />} loading={refreshing} onClick={() => void refresh()}>
              Refresh
            </Button>
            <Button
              variant="default"
              leftSection={<KeyIcon />}
              onClick={() => setDialog({ verb: 'claim', deviceToken: '' })}
            >
              Claim Gateway
            </Button>
            <ReasonedButton
              leftSection={<PlusIcon />}
              reason={mayManageFleet(role) ? undefined : MANAGER_NEEDED}
              onClick={() => setDialog({ verb: 'add' })}
            >
              Add Gateway
            </ReasonedButton>
          </>
        }
      />
      <FigureStrip label="Gateways by status" figures={figures} loading={gateways.isPending} />
      {gateways.isError && gateways.data !== undefined && (
        <Notice tone="warning">
          The list could not be refreshed and may be out of date: {messageOf(gateways.error)}
        </Notice>
      )}
      <Panel
        title="Gateways"
        actions={
          all.length > 0 && (
            <Find view={view} onView={setView}>
              {filtered ? `${shown.length.toLocaleString()} of ${all.length.toLocaleString()}` : ''}
            </Find>
          )
        }
      >
        {gateways.isPending ? (
          <PanelSkeleton rows={6} label="Loading gateways" />
        ) : gateways.data === undefined ? (
          <PanelError
            message={messageOf(gateways.error)}
            retrying={gateways.isFetching}
            onRetry={() => void gateways.refetch()}
          />
        ) : all.length === 0 ? (
          <NoGateways mayManage={mayManageFleet(role)} />
        ) : shown.length === 0 ? (
          <PanelEmpty title="No gateway matches">
            <p>{noMatch(deferred)}</p>
            <Button mt={10} variant="default" size="sm" onClick={() => setView({ ...view, search: '', status: 'any' })}>
              Show all gateways
            </Button>
          </PanelEmpty>
        ) : (
          <GatewayTable
            gateways={shown}
            mayManage={mayManageFleet(role)}
            onVerb={openVerb}
            view={view}
            onView={setView}
          />
        )}
      </Panel>
      <Suspense>{dialog !== null && <Dialogs dialog={dialog} onGone={() => setDialog(null)} />}</Suspense>
    </>
  )
}

function summarize(gateways: readonly Gateway[] | undefined) {
  const count = (status: Gateway['status']) => gateways?.filter((gateway) => gateway.status === status).length ?? null
  return [
    { label: 'Total', value: gateways?.length ?? null },
    { label: 'Online', value: count('online') },
    { label: 'Offline', value: count('offline') },
    { label: 'Warnings', value: count('warning'), tone: 'warning' as const },
  ]
}
