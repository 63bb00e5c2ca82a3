/**
 * Gateway Management: the fleet's summary and its table, and one dialog per verb. What a gateway may be asked to do
 * is decided by the hub; here it is only said in advance.
 */
import type { Gateway } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { messageOf } from '#api/client.ts'
import { MANAGER_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { FigureStrip } from '#ui/figure-strip.tsx'
import { KeyIcon, PlusIcon, RefreshIcon, SearchIcon } from '#ui/icons.tsx'
import { Notice } from '#ui/notice.tsx'
import { PageHead } from '#ui/page-head.tsx'
import { PanelEmpty, PanelError, PanelSkeleton } from '#ui/panel-states.tsx'
import { Panel } from '#ui/panel.tsx'
import { ReasonedButton } from '#ui/reasoned-button.tsx'
import { NoGateways } from './no-gateways.tsx'
import { useGateways } from './queries.ts'
import { searchGateways } from './search.ts'
import { GatewayTable } from './table.tsx'
import styles from './page.module.css'

const Dialogs = lazy(() => import('./dialogs.tsx'))

export type OpenDialog =
  | { verb: 'add' }
  | { verb: 'claim'; deviceToken: string }
  | { verb: 'vpn'; gateway: Gateway }
  | { verb: 'connect'; gateway: Gateway }

const NONE: readonly Gateway[] = []

export function GatewaysPage() {
  const { role } = useUser()
  const gateways = useGateways()
  const [parameters, setParameters] = useSearchParams()
  const scanned = parameters.get('token')
  const [dialog, setDialog] = useState<OpenDialog | null>(
    scanned === null ? null : { verb: 'claim', deviceToken: scanned },
  )
  const [search, setSearch] = useState('')
  const [refreshing, setRefreshing] = useState(false)
  const deferredSearch = useDeferredValue(search)

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
  const shown = useMemo(() => searchGateways(all, deferredSearch), [all, deferredSearch])
  const figures = useMemo(() => summarize(gateways.data), [gateways.data])
  const refresh = async () => {
    setRefreshing(true)
    await gateways.refetch()
    setRefreshing(false)
  }
  const connect = useCallback((gateway: Gateway) => setDialog({ verb: 'connect', gateway }), [])
  const showVpn = useCallback((gateway: Gateway) => setDialog({ verb: 'vpn', gateway }), [])

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
            <div className={styles.find}>
              <output className={styles.count}>
                {search === '' ? '' : `${shown.length.toLocaleString()} of ${all.length.toLocaleString()}`}
              </output>
              <TextInput
                type="search"
                size="sm"
                aria-label="Search gateways"
                placeholder="Search gateways"
                leftSection={<SearchIcon />}
                value={search}
                onChange={(event) => setSearch(event.currentTarget.value)}
              />
            </div>
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
            Nothing in the fleet has “{search}” in its name, id, place, address, version or status.
          </PanelEmpty>
        ) : (
          <GatewayTable gateways={shown} mayManage={mayManageFleet(role)} onConnect={connect} onVpnConfig={showVpn} />
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
