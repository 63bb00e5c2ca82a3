/** What came with the invitations of this page: each step of each device, live. */
import type { Arrival, GatewayInvitation } from '@hedgerow/contract'
import { NO_MODEL } from '@hedgerow/contract/constants'
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { messageOf } from '#api/client.ts'
import { useInvitations } from '#api/gateway-invitations.ts'
import { useObjectUrl } from '#api/object-url.ts'
import { CheckIcon, CrossIcon } from '@hedgerow/ui/icons.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { QrCode } from '@hedgerow/ui/qr-code.tsx'
import { useGateway } from '../queries.ts'
import styles from './add.module.css'
import { useApproveArrival, useArrivals, useFirstPicture } from './queries.ts'

/** More are named in one line. */
const SHOWN_ALONE = 4

export function Waiting({ of }: { of: readonly string[] }) {
  const arrivals = useArrivals(of)
  const invitations = useInvitations(true)
  const { data } = arrivals
  const address = `${location.origin}/add-gateway?of=${of.join(',')}`
  const expected = (invitations.data ?? [])
    .filter(({ id, status }) => of.includes(id) && status !== 'used_up')
    .filter(({ id, maxUses }) => (data ?? []).filter(({ invitationId }) => invitationId === id).length < maxUses)
    .toSorted((a, b) => of.indexOf(a.id) - of.indexOf(b.id))
  return (
    <Panel title="Waiting for the device">
      {data === undefined ? (
        <PanelWaiting query={arrivals} rows={2} label="Loading what came" />
      ) : (
        <ul className={styles.arrivals} aria-live="polite">
          {data.map((arrival) => (
            <li key={arrival.registrationId} className={styles.arrival}>
              <OneArrival arrival={arrival} />
            </li>
          ))}
          {expected.length > SHOWN_ALONE ? (
            <li className={styles.arrival}>
              <div>
                <strong>{expected.length} have not come yet</strong>
                <p className={styles.hint}>{expected.map(({ label }) => label).join(', ')}</p>
              </div>
            </li>
          ) : (
            expected.map((invitation) => (
              <li key={invitation.id} className={styles.arrival}>
                <Expected invitation={invitation} />
              </li>
            ))
          )}
        </ul>
      )}
      {/* A longer address makes a code that no phone reads. */}
      {of.length <= SHOWN_ALONE && (
        <div className={styles.phone}>
          <QrCode text={address} label="QR code of this page" />
          <p>Watch it on your phone, beside the device. The code has this page’s address, and no secret.</p>
        </div>
      )}
    </Panel>
  )
}

function Expected({ invitation: { label, status, uses, maxUses } }: { invitation: GatewayInvitation }) {
  return (
    <div>
      <strong>{label}</strong>
      <p className={styles.hint}>
        {status === 'revoked'
          ? 'The invitation is revoked.'
          : status === 'expired'
            ? 'The invitation has expired.'
            : maxUses === 1
              ? 'Nothing has come yet.'
              : `${uses} of ${maxUses} have joined. The next one has not come yet.`}
      </p>
    </div>
  )
}

function OneArrival({ arrival }: { arrival: Arrival }) {
  const { name, status, gatewayId } = arrival
  if (status === 'approved' && gatewayId !== null) return <Approved arrival={{ ...arrival, gatewayId }} />
  return (
    <div>
      <strong>{name}</strong>
      <Steps
        steps={[
          ['Found', 'done'],
          status === 'rejected' ? ['Rejected', 'failed'] : ['Compare the fingerprint', 'now'],
          ['Approved', 'later'],
          ['Connected', 'later'],
          ['First picture', 'later'],
        ]}
      />
      {status === 'pending' && <Comparison arrival={arrival} />}
    </div>
  )
}

function Comparison({ arrival: { registrationId, fingerprint, name } }: { arrival: Arrival }) {
  const approve = useApproveArrival()
  return (
    <>
      <p className={styles.hint}>The page of the device, and its label, must show this:</p>
      <Mono>{fingerprint}</Mono>
      {approve.isError && <Notice tone="danger">{messageOf(approve.error)}</Notice>}
      <div className={styles.buttons}>
        <Button
          size="compact-sm"
          loading={approve.isPending}
          aria-label={`It is the same: approve ${name}`}
          onClick={() => approve.mutate(registrationId)}
        >
          It is the same: approve
        </Button>
        <Button size="compact-sm" variant="default" component={Link} to="/gateway-approvals">
          It differs
        </Button>
      </div>
    </>
  )
}

function Approved({ arrival: { name, gatewayId, requestedAt } }: { arrival: Arrival & { gatewayId: string } }) {
  const { data } = useGateway(gatewayId)
  const heartbeat = data?.heartbeat
  const isConnected = heartbeat !== undefined && heartbeat !== null
  const camera = heartbeat?.cameras.find(({ state }) => state === 'online')?.name
  const picture = useFirstPicture(gatewayId, camera)
  const address = useObjectUrl(picture.data?.picture)
  const seconds = Math.max(0, Math.round((picture.dataUpdatedAt - Date.parse(requestedAt)) / 1_000))
  const isNew = seconds < 3_600
  const hasPicture = picture.data !== undefined
  return (
    <>
      <div>
        <strong>
          <Link to={`/gateways/${gatewayId}`}>{name}</Link>
        </strong>
        <Steps
          steps={[
            ['Found', 'done'],
            ['Approved', 'done'],
            ['Connected', isConnected ? 'done' : 'now'],
            [
              hasPicture && isNew ? `First picture after ${seconds} s` : 'First picture',
              hasPicture ? 'done' : isConnected ? 'now' : 'later',
            ],
          ]}
        />
        {isConnected && camera === undefined && (
          <Next to="add-camera" id={gatewayId} button="Add a camera">
            It has no camera that answers yet.
          </Next>
        )}
        {heartbeat?.detectors.some((one) => one.name === NO_MODEL) && (
          <Next to="configuration" id={gatewayId} button="Add the detector">
            It looks without a model: it sees that something moves, and not what.
          </Next>
        )}
      </div>
      {address !== undefined && <img src={address} alt={`${camera} at ${name}`} />}
    </>
  )
}

/** A page of the device's own interface has the next step. */
function Next({ id, to, button, children }: { id: string; to: string; button: string; children: ReactNode }) {
  return (
    <>
      <p className={styles.hint}>{children}</p>
      <div className={styles.buttons}>
        <Button
          size="compact-sm"
          component={Link}
          to={`/proxy/gateway/${id}?path=${encodeURIComponent(`/device/${to}`)}`}
        >
          {button}
        </Button>
      </div>
    </>
  )
}

type StepState = 'done' | 'now' | 'later' | 'failed'

const STATE_WORDS: Readonly<Record<StepState, string>> = {
  done: 'Done:',
  now: 'Now:',
  later: 'Later:',
  failed: 'Failed:',
}

function Steps({ steps }: { steps: readonly (readonly [words: string, state: StepState])[] }) {
  return (
    <ol className={styles.steps}>
      {steps.map(([words, state]) => (
        <li key={words} data-state={state}>
          {state === 'done' ? <CheckIcon /> : state === 'failed' ? <CrossIcon /> : <span className={styles.pip} />}
          <span className="visually-hidden">{STATE_WORDS[state]}</span> {words}
        </li>
      ))}
    </ol>
  )
}
