/**
 * Gateway Management: the fleet's figures, its table, and one dialog per verb. The hub enforces what the role may do;
 * this page only shows it.
 */
import type { Gateway } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react'
import { messageOf } from '#api/client.ts'
import { useGateways } from '#api/gateways.ts'
import { useDraft } from '#api/drafts.ts'
import { mayManageFleet } from '#api/roles.ts'
import { countTags } from '#api/tags.ts'
import { useUser } from '#api/session.tsx'
import { useAskedAction } from '#parts/asked-action.ts'
import { useParameters } from '#parts/parameters.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import type { GatewayVerb, OpenDialog } from '../dialogs/dialogs.tsx'
import { Find } from './find.tsx'
import { Heading } from './heading.tsx'
import { noMatch } from '../messages.ts'
import { useAlertGateways } from '../queries.ts'
import { NoGateways } from './no-gateways.tsx'
import { searchAmong } from './search.ts'
import { SelectionBar, useSelection } from './selection.tsx'
import { useStableOrder } from './stable-order.ts'
import { Summary } from './summary.tsx'
import { GatewayTable } from './table.tsx'
import { useView } from './use-view.ts'
import { isWanted, sitesOf, sortGateways, type StatusFilter } from '../view.ts'

const Dialogs = lazy(() => import('../dialogs/dialogs.tsx'))

const NONE: readonly Gateway[] = []

export function GatewaysPage() {
  const mayManage = mayManageFleet(useUser().role)
  const gateways = useGateways()
  const [parameters, changeParameters] = useParameters()
  const scanned = parameters.get('token')
  const [dialog, setDialog] = useState<OpenDialog | null>(
    scanned === null ? null : { verb: 'claim', deviceToken: scanned },
  )
  const { view, changeView, revision, search: searchFor, orderBy } = useView()
  // Connect is not restored, because it must not start again by itself.
  useDraft('gateways', dialog === null || dialog.verb === 'connect' ? undefined : dialog, setDialog)
  const deferred = useDeferredValue(view)

  // A QR label opens this page with the device's token. It is removed from the address, so that a reload does not ask
  // again.
  useEffect(() => {
    if (scanned === null) return
    changeParameters(
      (current) => {
        current.delete('token')
        return current
      },
      { replace: true },
    )
  }, [scanned, changeParameters])

  useAskedAction(['claim'], (verb) => setDialog({ verb, deviceToken: '' }))

  const all = gateways.data ?? NONE
  const { search, status, protection, site, tag, alert, sort, descending } = deferred
  const ofAlert = useAlertGateways(alert)
  const [pointed, setPointed] = useState(false)
  const sorted = useStableOrder(
    useMemo(() => sortGateways(all, { sort, descending }), [all, sort, descending]),
    `${sort} ${descending}`,
    pointed,
  )
  const searched = useMemo(
    () =>
      searchAmong(
        status === 'any' && protection === 'any' && site === '' && tag === '' && alert === ''
          ? sorted
          : sorted.filter(
              (gateway) =>
                isWanted(gateway, { status, protection, site, tag }) && (alert === '' || ofAlert.data?.has(gateway.id)),
            ),
      ),
    [sorted, status, protection, site, tag, alert, ofAlert.data],
  )
  const shown = useMemo(() => searched(search), [searched, search])
  const sites = useMemo(() => sitesOf(shown, sort), [shown, sort])
  const openVerb = useCallback((verb: GatewayVerb, gateway: Gateway) => setDialog({ verb, gateway }), [])
  const { selection, select, selectOnly } = useSelection()
  const selected = useMemo(
    () => (selection.size === 0 ? NONE : sorted.filter(({ id }) => selection.has(id))),
    [sorted, selection],
  )
  const changeStatus = useCallback((wanted: StatusFilter) => changeView({ status: wanted }), [changeView])
  const { layout: _layout, sort: _sort, descending: _descending, ...filters } = view
  const filtered = Object.values(filters).some((value) => value !== '' && value !== 'any')
  const tags = useMemo(() => countTags(all), [all])

  return (
    <>
      <Heading mayManage={mayManage} onDialog={setDialog} />
      <Summary gateways={gateways.data} loading={gateways.isPending} status={view.status} onStatus={changeStatus} />
      {gateways.isError && gateways.data !== undefined && (
        <Notice tone="warning">The list could not be refreshed and may be outdated: {messageOf(gateways.error)}</Notice>
      )}
      <Panel
        title="Gateways"
        sticky
        actions={
          all.length > 0 && (
            <Find view={view} gateways={all} tags={tags} onView={changeView} revision={revision} onSearch={searchFor}>
              {filtered ? `${shown.length.toLocaleString()} of ${all.length.toLocaleString()}` : ''}
            </Find>
          )
        }
      >
        {alert !== '' && ofAlert.data === undefined ? (
          <PanelWaiting query={ofAlert} rows={6} label="Loading the gateways of the alert" />
        ) : gateways.data === undefined ? (
          <PanelWaiting query={gateways} rows={6} label="Loading gateways" />
        ) : all.length === 0 ? (
          <NoGateways mayManage={mayManage} />
        ) : shown.length === 0 ? (
          <PanelEmpty title="No gateway matches">
            <p>{noMatch(deferred)}</p>
            <Button
              mt={10}
              variant="default"
              size="sm"
              onClick={() => changeView({ search: '', status: 'any', protection: 'any', site: '', tag: '', alert: '' })}
            >
              Show all gateways
            </Button>
          </PanelEmpty>
        ) : (
          <div
            onPointerEnter={({ pointerType }) => setPointed(pointerType === 'mouse')}
            onPointerLeave={() => setPointed(false)}
          >
            <GatewayTable
              gateways={shown}
              fleetSize={all.length}
              sites={sites}
              isFiltered={filtered}
              mayManage={mayManage}
              selection={selection}
              onSelect={select}
              onSelectOnly={selectOnly}
              onVerb={openVerb}
              view={deferred}
              onSort={orderBy}
            />
          </div>
        )}
      </Panel>
      <SelectionBar
        selected={selected}
        shown={shown}
        mayManage={mayManage}
        onSelectOnly={selectOnly}
        onDialog={setDialog}
      />
      <Suspense>{dialog !== null && <Dialogs dialog={dialog} onGone={() => setDialog(null)} />}</Suspense>
    </>
  )
}
