/** The versions of the hub and of the fleet's agents, and the agents' updates. */
import type { GatewayVersion, HubVersion, Versions } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { isForbidden, messageOf } from '#api/client.ts'
import { placeOf } from '#api/places.ts'
import { ADMIN_NEEDED, MANAGER_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { ActionsCell, Cell, DataTable, Row, RowName, TwoLines, type Column } from '@hedgerow/ui/data-table.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelForbidden, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { SearchField } from '@hedgerow/ui/search-field.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { HelpLink } from '#parts/help-link.tsx'
import {
  SHOWN_MAX,
  useResumeRollout,
  useSkipUpdate,
  useStopRollout,
  useUpdateGateways,
  useVersions,
} from './queries.ts'
import { Sites } from './sites.tsx'
import styles from './page.module.css'

const COLUMNS: readonly Column[] = [
  { name: 'Gateway' },
  { name: 'Version', width: '16%' },
  { name: 'Update', width: '40%' },
  { name: 'Actions', width: '130px' },
]

export function VersionsPage() {
  const { role } = useUser()
  const mayManage = mayManageFleet(role)
  const [search, setSearch] = useState('')
  const versions = useVersions(mayManage, search.trim())
  const update = useUpdateGateways()
  const forbidden = !mayManage || isForbidden(versions.error)
  const behind = versions.data?.gateways.filter(({ canUpdate }) => canUpdate).map(({ id }) => id) ?? []
  return (
    <>
      <PageHead
        title="Versions"
        lead="The versions of the hub and of each gateway, and those that they should have."
        actions={
          <>
            <Button component={Link} to="/gateways" variant="default">
              Back to Gateways
            </Button>
            <ReasonedButton
              reason={mayManage ? (behind.length === 0 ? 'No gateway can be updated.' : undefined) : MANAGER_NEEDED}
              loading={update.isPending}
              onClick={() => update.mutate(behind)}
            >
              {search.trim() === '' ? 'Update all' : 'Update all shown'}
            </ReasonedButton>
          </>
        }
      />
      {update.isError && <Notice tone="danger">{messageOf(update.error)}</Notice>}
      {versions.isError && versions.data !== undefined && !forbidden && (
        <Notice tone="warning">The list could not be refreshed and may be outdated: {messageOf(versions.error)}</Notice>
      )}
      {versions.data !== undefined && !forbidden && <AtAGlance versions={versions.data} />}
      <Panel
        title="Gateways"
        actions={mayManage && <SearchField label="Search by name, site or tag" initial="" onSearch={setSearch} />}
      >
        {forbidden ? (
          <PanelForbidden>Managers and administrators update gateways.</PanelForbidden>
        ) : versions.data === undefined ? (
          <PanelWaiting query={versions} rows={4} label="Loading versions" />
        ) : versions.data.gateways.length === 0 && search.trim() !== '' ? (
          <PanelEmpty title="No gateway found">No gateway has this in its name, site, location or tags.</PanelEmpty>
        ) : versions.data.gateways.length === 0 ? (
          <PanelEmpty title="No gateways yet">Approved gateways are listed here with their versions.</PanelEmpty>
        ) : (
          <DataTable
            label="Versions of gateways"
            columns={COLUMNS}
            rowCount={versions.data.gateways.length}
            narrow="lines"
          >
            {versions.data.gateways.map((gateway, index) => (
              <Row key={gateway.id} index={index} restOf={gateway.name}>
                <Cell label="Gateway" place="title">
                  <TwoLines
                    first={
                      <Link to={`/gateways/${gateway.id}`}>
                        <RowName>{gateway.name}</RowName>
                      </Link>
                    }
                    second={placeOf(gateway)}
                  />
                </Cell>
                <Cell label="Version" place="beside">
                  {gateway.version === '' ? 'Unknown' : <Mono>{gateway.version}</Mono>}
                </Cell>
                <Cell label="Update" place="line">
                  <UpdateState gateway={gateway} />
                </Cell>
                <ActionsCell>
                  {gateway.canUpdate && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`Update ${gateway.name}`}
                      onClick={() => update.mutate([gateway.id])}
                    >
                      Update
                    </Button>
                  )}
                </ActionsCell>
              </Row>
            ))}
          </DataTable>
        )}
        {versions.data?.gateways.length === SHOWN_MAX && <p>The first {SHOWN_MAX}. Search for the others.</p>}
      </Panel>
      {versions.data !== undefined && !forbidden && (
        <Sites sites={versions.data.sites} reason={role === 'admin' ? undefined : ADMIN_NEEDED} />
      )}
    </>
  )
}

const inWords = ({ version, gateways }: Versions['counts'][number]) =>
  `${gateways} with ${version || 'an unknown version'}`

function AtAGlance({ versions: { hub, release, rollout, counts } }: { versions: Versions }) {
  const resume = useResumeRollout()
  return (
    <Panel title="At a glance">
      <div className={styles.glance}>
        <OfTheHub hub={hub} />
        <p>
          {release === null ? (
            'This hub has no release of the gateway: put one into its folder of downloads.'
          ) : (
            <>
              This hub hands out <Mono>{release.version}</Mono>.
            </>
          )}{' '}
          {counts.length > 0 && `Gateways: ${counts.map(inWords).join(', ')}.`}
        </p>
        {rollout?.state === 'running' && <RunningRollout rollout={rollout} />}
        {rollout?.state === 'stopped' && (
          <Notice tone="danger">
            Automatic updates stopped: {rollout.message}{' '}
            <Button size="compact-sm" variant="default" loading={resume.isPending} onClick={() => resume.mutate()}>
              Go on
            </Button>
          </Notice>
        )}
        {resume.isError && <Notice tone="danger">{messageOf(resume.error)}</Notice>}
        <HelpLink to="updates">How gateways are updated</HelpLink>
      </div>
    </Panel>
  )
}

/** The current step, and the gateways that hold the others back, with what a person can do. */
function RunningRollout({ rollout: { message, held } }: { rollout: NonNullable<Versions['rollout']> }) {
  const stop = useStopRollout()
  const skip = useSkipUpdate()
  const error = stop.error ?? skip.error
  const stopButton = (
    <Button size="compact-sm" variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
      Stop
    </Button>
  )
  return (
    <>
      <p>
        Automatic updates: {message} {held.length === 0 && stopButton}
      </p>
      {held.length > 0 && (
        <Notice tone="warning">
          <p>The other gateways wait. Skip a gateway to go on without it, or stop.</p>
          <ul className={styles.held}>
            {held.map(({ id, name, message: reason }) => (
              <li key={id}>
                <WithLink sentence={reason} name={name} path={`/gateways/${id}`} />{' '}
                <Button size="compact-sm" variant="default" aria-label={`Skip ${name}`} onClick={() => skip.mutate(id)}>
                  Skip
                </Button>
              </li>
            ))}
          </ul>
          {stopButton}
        </Notice>
      )}
      {error !== null && <Notice tone="danger">{messageOf(error)}</Notice>}
    </>
  )
}

/** A sentence about a gateway, whose name in it is the link. */
function WithLink({ sentence, name, path }: { sentence: string; name: string; path: string }) {
  const [before, ...after] = sentence.split(`"${name}"`)
  if (after.length === 0) return <Link to={path}>{sentence}</Link>
  return (
    <>
      {before}"<Link to={path}>{name}</Link>"{after.join(`"${name}"`)}
    </>
  )
}

function OfTheHub({ hub: { version, isChecked, newer, checkedAt, problem } }: { hub: HubVersion }) {
  return (
    <>
      <p>
        The hub runs <Mono>{version}</Mono>.{' '}
        {!isChecked
          ? 'It does not look for newer versions: HUB_UPDATES_URL is not set.'
          : checkedAt === null
            ? 'It has not looked for newer versions yet.'
            : newer === null && problem === null && 'It is the newest.'}
      </p>
      {newer !== null && (
        <Notice tone="plain">
          Version {newer.version} of the hub is available. <HelpLink to="upgrade">How to update it</HelpLink>
        </Notice>
      )}
      {problem !== null && <Notice tone="warning">The hub could not look for newer versions: {problem}</Notice>}
    </>
  )
}

function UpdateState({ gateway: { update } }: { gateway: GatewayVersion }) {
  if (update === null) return null
  const { version, message } = update
  if (update.state === 'done') return <StatusMark shape="dot" word={`Runs ${version}`} />
  if (update.state === 'failed') return <StatusMark shape="diamond" word={`${version} failed`} reason={message} />
  if (update.state === 'skipped') return <StatusMark shape="neutral" word={`${version} skipped`} reason={message} />
  return <StatusMark shape="ring" word={`${version}, asked for by ${update.by ?? 'the hub'}`} reason={message} />
}
