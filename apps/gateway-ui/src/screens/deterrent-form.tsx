/** The form of one deterrent: the wizard that adds one, and the same for changing one. */
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState, type ComponentProps, type ReactNode } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import type { DeterrentKind, FoundDeterrent, FoundOutput } from '@hedgerow/contract/deterrent-setup'
import { CommandLine } from '@hedgerow/ui/command-line.tsx'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelForbidden, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import { DeviceError } from '../calls.ts'
import { useDeterrentKinds, useReadOutputs, useTrialFiring } from '../deterrent-queries.ts'
import {
  addressOf,
  draftOf,
  editsOf,
  given,
  PROPOSED,
  writtenOf,
  type Draft,
  type Written,
} from '../parts/deterrent-draft.ts'
import { Connection } from '../parts/deterrent-connection.tsx'
import { EXAMPLES } from '../parts/deterrent-examples.ts'
import { DriverFields, labelOf } from '../parts/driver-fields.tsx'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import { FindDeterrents } from '../parts/find-deterrents.tsx'
import { LimitsFields } from '../parts/limits-fields.tsx'
import { TrialFiring } from '../parts/trial-firing.tsx'
import { useStatus } from '../queries.ts'
import { useVisitor } from '../session.ts'
import { elsewhere, errorAt, untold, useBase, useChangeSettings, useSettings, type Settings } from '../settings.ts'
import { groupIn } from '../written.ts'
import styles from './camera.module.css'
import own from './deterrents.module.css'

/** Those that water first, then what switches anything. */
const BRANDS: readonly (readonly [driver: string, words: string])[] = [
  ['opensprinkler', 'OpenSprinkler'],
  ['rachio', 'Rachio'],
  ['hydrawise', 'Hydrawise'],
  ['shelly', 'Shelly, second generation or later'],
  ['tasmota', 'Tasmota'],
  ['mqtt', 'MQTT switch'],
  ['onvif', 'Relay of an ONVIF camera'],
  ['reolink', 'Siren or light of a Reolink camera'],
  ['gpio', 'GPIO line of this device'],
  ['http', 'HTTP requests'],
  ['command', 'Program of this device'],
]

const TAKEN = 'gateway.yaml has a deterrent of this name already.'

export function AddDeterrentScreen() {
  return (
    <DeterrentScreen title="Add a sprinkler" lead="Or a siren, a light or a valve. Nothing fires until you test it." />
  )
}

export function EditDeterrentScreen() {
  const { name = '' } = useParams()
  return <DeterrentScreen key={name} title={name} lead="What it is, and its limits." name={name} />
}

function DeterrentScreen({ title, lead, name }: { title: string; lead: string; name?: string }) {
  const place = useStatus().data?.name ?? 'Gateway'
  const { mayManage } = useVisitor()
  const kinds = useDeterrentKinds(mayManage)
  const settings = useSettings(mayManage)
  return (
    <>
      <PageHead title={title} place={place} lead={lead} />
      {!mayManage ? (
        <Panel title="Deterrent">
          <PanelForbidden>
            Managers and administrators of the hub, and people who know the password of this device, set up deterrents.
          </PanelForbidden>
        </Panel>
      ) : kinds.data === undefined || settings.data === undefined ? (
        <PanelWaiting query={kinds.data === undefined ? kinds : settings} rows={6} label="Loading the form" />
      ) : name === undefined ? (
        <Form kinds={kinds.data} query={settings} />
      ) : (
        <Edit kinds={kinds.data} query={settings} name={name} />
      )}
    </>
  )
}

type ReadProps = { kinds: DeterrentKind[]; query: ReturnType<typeof useSettings> & { data: Settings } }

function Edit({ name, ...read }: ReadProps & { name: string }) {
  const written = groupIn(read.query.data.settings, 'deterrents')[name]
  if (typeof written !== 'object' || written === null)
    return <Notice tone="warning">gateway.yaml has no deterrent of this name.</Notice>
  return <Form {...read} found={{ name, written: written as Written }} />
}

type FormProps = ReadProps & { found?: { name: string; written: Written } }

function Form({ kinds, query, found }: FormProps) {
  const navigate = useNavigate()
  const save = useChangeSettings()
  const partOf = (file: Settings) => found && groupIn(file.settings, 'deterrents')[found.name]
  const [settings, setSettings] = useBase(query.data, partOf, save.isPending || save.isSuccess)
  const [driver, setDriver] = useState(found ? String(found.written['driver']) : '')
  const [before] = useState(() => found && draftOf(found.name, found.written))
  const [draft, setDraft] = useState<Draft>(before ?? { name: '', values: {}, limits: PROPOSED })
  const [isTouched, setIsTouched] = useState(false)
  const password = useFilePassword()
  const outputs = useReadOutputs()
  const trial = useTrialFiring()
  const kind = kinds.find((each) => each.driver === driver)
  const name = draft.name.trim()
  const written = kind && writtenOf(kind, draft)
  const isWritable = kind !== undefined && (found !== undefined || !kind.needsText)
  const edits = kind && written ? editsOf(name, written, before && writtenOf(kind, before)) : []
  const isTaken = !found && Object.hasOwn(groupIn(settings.settings, 'deterrents'), name)

  /** What was typed stays, and can be saved next. */
  async function reload(): Promise<void> {
    const read = await query.refetch()
    if (!read.isSuccess) return
    setSettings(read.data)
    save.reset()
  }

  function change(part: Partial<Draft>): void {
    setIsTouched(true)
    setDraft((now) => ({ ...now, ...part }))
  }

  function connect(to: string, values: Draft['values']): void {
    const asked = kinds.find((each) => each.driver === to)
    if (asked) outputs.mutate({ driver: to, settings: addressOf(asked, values), ...password.given })
  }

  function choose(next: string): void {
    setIsTouched(true)
    setDriver(next)
    setDraft({ ...draft, values: {} })
    outputs.reset()
  }

  function use({ driver: next, address, needsPassword }: FoundDeterrent & { driver: string }): void {
    choose(next)
    setDraft({ ...draft, values: { address } })
    if (!needsPassword) connect(next, { address })
  }

  const attempts = [save.error, trial.firing.error, outputs.error]
  const errorOf = (key: string) => fieldErrorIn(attempts, key) ?? errorAt(save.error, ['deterrents', name, key])

  const shown = fieldsOf(kind, outputs.data !== undefined)

  return (
    <div className={styles.editor}>
      {found === undefined && (
        <div className={own.find}>
          <FindDeterrents given={password.given} isMissing={password.isMissing} onUse={use} />
        </div>
      )}
      <UnsavedGuard unsaved={isTouched && isWritable && !save.isPending && !save.isSuccess} />
      <div className={styles.main}>
        <Panel title="Device">
          <form
            className={own.fields}
            noValidate
            onSubmit={(event) => {
              event.preventDefault()
              connect(driver, draft.values)
            }}
          >
            <FilePassword {...password} />
            <NativeSelect
              label="Kind"
              data={[...(driver === '' ? [{ value: '', label: 'Choose' }] : []), ...namesOf(kinds)]}
              value={driver}
              disabled={found !== undefined}
              onChange={(event) => choose(event.currentTarget.value)}
            />
            {kind && <Kind kind={kind} isNew={found === undefined} />}
            {kind && isWritable && (
              <>
                <DriverFields
                  fields={shown}
                  values={draft.values}
                  errorOf={errorOf}
                  onChange={(key, value) => change({ values: { ...draft.values, [key]: value } })}
                />
                {kind.outputKeys.length > 0 && (
                  <Connection
                    kind={kind}
                    outputs={outputs}
                    values={draft.values}
                    isMissing={password.isMissing}
                    onChoose={({ name: called, settings: chosen }) =>
                      change({
                        values: { ...draft.values, ...textsOf(chosen) },
                        ...(found === undefined && draft.name === '' && { name: plainName(called) }),
                      })
                    }
                  />
                )}
              </>
            )}
          </form>
        </Panel>
        {kind && isWritable && written && (
          <>
            {found === undefined && (
              <NamePanel
                name={draft.name}
                error={isTaken ? TAKEN : errorOf('name')}
                onChange={(changed) => change({ name: changed })}
              >
                <TrialFiring
                  name={name}
                  trial={trial}
                  isReady={name !== '' && !isTaken && !password.isMissing}
                  onFire={() => trial.firing.mutate({ name, driver, settings: given(written), ...password.given })}
                />
              </NamePanel>
            )}
            <LimitsPanel
              limits={draft.limits}
              cameras={settings.names.cameras.map((camera) => camera.name)}
              errorOf={errorOf}
              onChange={(limits) => change({ limits })}
            />
            <SaveButtons
              save={save}
              sentences={untoldOf(save.error, name, shown)}
              isReady={name !== '' && !isTaken && edits.length > 0 && !password.isMissing}
              onSave={() =>
                save.mutate(
                  { edits, hash: settings.hash, ...password.given },
                  { onSuccess: () => void navigate('/deterrents') },
                )
              }
              onReload={() => void reload()}
            />
          </>
        )}
      </div>
    </div>
  )
}

type NamePanelProps = {
  name: string
  error: string | undefined
  onChange: (name: string) => void
  children: ReactNode
}

function NamePanel({ name, error, onChange, children }: NamePanelProps) {
  return (
    <Panel title="Name and test">
      <div className={own.fields}>
        <TextInput
          label="Name"
          description="Rules and the ledger use this name."
          value={name}
          maxLength={63}
          error={error}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
        {children}
      </div>
    </Panel>
  )
}

function LimitsPanel(props: ComponentProps<typeof LimitsFields>) {
  return (
    <Panel title="Limits">
      <div className={own.fields}>
        <LimitsFields {...props} />
      </div>
    </Panel>
  )
}

/** What `LimitsFields` has, and what only the file has. */
const LIMITS_SHOWN = ['seconds', 'coolDownSeconds', 'secondsADay', 'watchedBy']
const LIMITS_ELSEWHERE: Readonly<Record<string, string>> = {
  maximumSeconds: 'The longest firing',
  secondsAnHour: 'Seconds an hour',
  quietHours: 'Quiet hours',
  armed: 'Hours when rules may fire it',
}

/** A connection shows its outputs instead of their fields. */
const fieldsOf = (kind: DeterrentKind | undefined, isConnected: boolean) =>
  kind?.fields.filter(({ key }) => !isConnected || !kind.outputKeys.includes(key)) ?? []

function untoldOf(error: unknown, name: string, shown: DeterrentKind['fields']): string[] {
  const start = `deterrents.${name}.`
  const told = new Set([...shown.map(({ key }) => key), ...LIMITS_SHOWN])
  return untold(
    error,
    (path) => path.startsWith(start) && told.has(path.slice(start.length).split('.')[0]!),
    (path) => (`${path}.`.startsWith(start) ? LIMITS_ELSEWHERE[path.slice(start.length)] : elsewhere(path)),
  )
}

type SaveButtonsProps = {
  save: ReturnType<typeof useChangeSettings>
  /** What no field tells. */
  sentences: readonly string[]
  isReady: boolean
  onSave: () => void
  onReload: () => void
}

function SaveButtons({ save: { error, isPending }, sentences, isReady, onSave, onReload }: SaveButtonsProps) {
  const isOutdated = error instanceof DeviceError && error.code === 'file_changed'
  return (
    <>
      {sentences.length > 0 && (
        <Notice tone="danger">
          {sentences.join(' ')}{' '}
          {isOutdated && (
            <Button variant="default" size="compact-sm" onClick={onReload}>
              Load it again
            </Button>
          )}
        </Notice>
      )}
      <div className={styles.buttons}>
        <Button loading={isPending} disabled={!isReady} onClick={onSave}>
          Save
        </Button>
        <Button variant="default" component={Link} to="/deterrents">
          Cancel
        </Button>
      </div>
    </>
  )
}

function Kind({ kind: { driver, summary, others, needsText }, isNew }: { kind: DeterrentKind; isNew: boolean }) {
  const example = needsText && isNew ? EXAMPLES[driver] : undefined
  return (
    <>
      <p className={styles.quiet}>{summary}</p>
      {others.length > 0 && (
        <p className={styles.quiet}>
          {needsText && isNew ? 'This kind is written as text' : others.map(labelOf).join(', ')}: edit in{' '}
          <Link to="/configuration">Configuration</Link>.
        </p>
      )}
      {example !== undefined && (
        <>
          <p>An example, to paste below the line “deterrents:”. Change the name, “on” and “off”:</p>
          <CommandLine>{example}</CommandLine>
          <div>
            <CopyButton text={example}>Copy the example</CopyButton>
          </div>
        </>
      )}
    </>
  )
}

function namesOf(kinds: readonly DeterrentKind[]): { value: string; label: string }[] {
  const known = BRANDS.filter(([driver]) => kinds.some((kind) => kind.driver === driver))
  const others = kinds.filter(({ driver }) => BRANDS.every(([brand]) => brand !== driver))
  return [...known, ...others.map(({ driver }) => [driver, driver] as const)].map(([value, label]) => ({
    value,
    label,
  }))
}

function fieldErrorIn(errors: readonly (Error | null)[], key: string): string | undefined {
  const named = errors.map((error) => (error instanceof DeviceError ? error.fieldErrors[key] : undefined))
  return named.find((words) => words !== undefined)
}

function textsOf(settings: FoundOutput['settings']): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, String(value)]))
}

/** Only what a name of a deterrent may have. */
function plainName(called: string): string {
  return called
    .replaceAll(/[^\p{L}\p{N} _.-]+/gu, ' ')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .trim()
    .slice(0, 63)
}
