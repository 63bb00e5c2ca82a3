import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState, type FormEvent } from 'react'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { DeviceError, messageOf } from '../calls.ts'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import styles from '../parts/form.module.css'
import { draftOf, proposedName, ruleOf, WEEK_DAYS, type RuleDraft, type WrittenRule } from '../parts/rule-draft.ts'
import { TickList } from '../parts/tick-list.tsx'
import { errorAt, groupIn, listIn, useChangeSettings, usePreview, type Settings } from '../settings.ts'
import { Meaning } from './rule-meaning.tsx'

type RuleFormProps = {
  settings: Settings
  /** Undefined for a new rule. */
  name: string | undefined
  onReload: () => Promise<Settings | undefined>
  onGone: () => void
}

const PREVIEW_AFTER_MS = 400
const WHEN = [
  { value: 'always', label: 'Always' },
  { value: 'night', label: 'At night, from sunset to sunrise' },
  { value: 'hours', label: 'Between two times' },
  { value: 'other', label: 'Other hours' },
]
const WHICH = [
  { value: 'all', label: 'All of them' },
  { value: 'one', label: 'One of them, by chance' },
]

/** Adds or changes a rule: “When … then …”, with the sentence that it means and what it would have done. */
export function RuleForm({ settings, name, onReload, onGone }: RuleFormProps) {
  const life = useDialogLife(onGone)
  /** The file that the change is about. */
  const [base, setBase] = useState(settings)
  const rules = listIn(base.settings, 'rules') as WrittenRule[]
  const found = rules.findIndex((rule) => rule['name'] === name)
  const index = found < 0 ? rules.length : found
  const before = rules[index] ?? {}
  const own = draftOf(before)
  const [draft, setDraft] = useState<RuleDraft>(own)
  const [another, setAnother] = useState('')
  const change = useChangeSettings()
  const password = useFilePassword()
  const proposed = proposedName(
    draft,
    rules.map((rule) => String(rule['name'])),
  )
  const rule = ruleOf({ ...draft, name: draft.name.trim() || proposed }, before)
  const isComplete = draft.labels.length > 0 && draft.fire.length > 0
  const edits = [{ path: ['rules', index], value: rule as Settings['settings'] }]
  const [asked] = useDebouncedValue(JSON.stringify(edits), PREVIEW_AFTER_MS)
  const preview = usePreview(isComplete ? (JSON.parse(asked) as typeof edits) : undefined, base.hash)
  const isOutdated = [change.error, preview.error].some((error) => codeOf(error) === 'file_changed')

  /** What the rule names stays there, also when nothing offers it. */
  const offer = (key: 'labels' | 'cameras' | 'zones' | 'fire', offered: readonly string[]) => [
    ...new Set([...offered, ...own[key], ...draft[key]]),
  ]
  const set = (part: Partial<RuleDraft>) => setDraft({ ...draft, ...part })
  function errorOf(key: string): string | undefined {
    const told = preview.data?.errors.find(({ path }) => path[1] === index && path[2] === key)?.message
    return (isComplete ? told : undefined) ?? errorAt(change.error, ['rules', index, key])
  }

  const zones = base.names.cameras
    .filter(({ name: camera }) => draft.cameras.length === 0 || draft.cameras.includes(camera))
    .flatMap((camera) => camera.zones)
  const deterrents = Object.keys(groupIn(base.settings, 'deterrents'))

  function addLabel(): void {
    if (another.trim() !== '') set({ labels: [...new Set([...draft.labels, another.trim()])] })
    setAnother('')
  }

  function save(event: FormEvent): void {
    event.preventDefault()
    change.mutate({ edits, hash: base.hash, ...password.given }, { onSuccess: life.onClose })
  }

  async function reload(): Promise<void> {
    const read = await onReload()
    if (read === undefined) return
    setBase(read)
    change.reset()
  }

  return (
    <Dialog title={name === undefined ? 'Add a rule' : `Rule ${name}`} size="lg" {...life}>
      <form className={styles.form} onSubmit={save}>
        <TickList
          legend="When it sees"
          options={offer('labels', ['animal', ...base.names.labels]).map((label) => [
            label,
            label === 'animal' ? 'any animal' : label,
          ])}
          ticked={draft.labels}
          error={errorOf('labels')}
          onChange={(labels) => set({ labels })}
        />
        <div className={styles.row}>
          <TextInput
            label="Another label"
            value={another}
            maxLength={100}
            onChange={(event) => setAnother(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              addLabel()
            }}
          />
          <Button variant="default" disabled={another.trim() === ''} onClick={addLabel}>
            Add label
          </Button>
        </div>
        <TickList
          legend="On the cameras"
          hint="None ticked: all cameras."
          options={pairs(offer('cameras', names(base.names.cameras)))}
          ticked={draft.cameras}
          error={errorOf('cameras')}
          onChange={(cameras) => set({ cameras })}
        />
        <TickList
          legend="In the zones"
          hint="None ticked: the whole picture."
          options={pairs(offer('zones', zones))}
          ticked={draft.zones}
          error={errorOf('zones')}
          onChange={(ticked) => set({ zones: ticked })}
        />
        <div className={styles.row}>
          <NativeSelect
            label="At these times"
            data={WHEN}
            value={draft.when}
            error={draft.when === 'other' ? undefined : errorOf('hours')}
            onChange={(event) => set({ when: event.currentTarget.value as RuleDraft['when'] })}
          />
          {draft.when === 'hours' && (
            <>
              <TextInput
                type="time"
                label="From"
                required
                value={draft.from}
                onChange={(event) => set({ from: event.currentTarget.value })}
              />
              <TextInput
                type="time"
                label="To"
                required
                value={draft.to}
                onChange={(event) => set({ to: event.currentTarget.value })}
              />
            </>
          )}
          {draft.when === 'other' && (
            <TextInput
              label="Hours"
              description="Such as sunset+30m-23:30, with commas between several."
              value={draft.other}
              maxLength={500}
              error={errorOf('hours')}
              onChange={(event) => set({ other: event.currentTarget.value })}
            />
          )}
        </div>
        <TickList
          legend="On these days"
          options={WEEK_DAYS.map((day) => [day, day.slice(0, 1).toUpperCase() + day.slice(1, 3)])}
          ticked={draft.days}
          error={errorOf('days')}
          onChange={(days) => set({ days })}
        />
        <NumberInput
          label="Lowest score, %"
          description="Empty: any score."
          value={draft.score}
          min={0}
          max={100}
          decimalScale={2}
          error={errorOf('minimumScore')}
          onChange={(score) => set({ score: numberOf(score) })}
        />
        <TickBox checked={draft.isConfirmed} onChange={(isConfirmed) => set({ isConfirmed })}>
          Only what the second look confirms
        </TickBox>
        <TickList
          legend="Then it fires"
          options={pairs(offer('fire', deterrents))}
          ticked={draft.fire}
          error={errorOf('fire')}
          onChange={(fire) => set({ fire })}
        />
        {deterrents.length === 0 && <p className={styles.quiet}>This gateway has no deterrent yet.</p>}
        {draft.fire.length > 1 && (
          <NativeSelect
            label="Which"
            data={WHICH}
            value={draft.choose}
            onChange={(event) => set({ choose: event.currentTarget.value as RuleDraft['choose'] })}
          />
        )}
        <div className={styles.row}>
          <NumberInput
            label="Seconds"
            description="Empty: as long as the deterrent says."
            value={draft.seconds}
            min={1}
            max={1_800}
            allowDecimal={false}
            error={errorOf('seconds')}
            onChange={(seconds) => set({ seconds: numberOf(seconds), secondsMost: numberOf(seconds) })}
          />
          <NumberInput
            label="At most, for a random length"
            value={draft.secondsMost}
            min={1}
            max={1_800}
            allowDecimal={false}
            disabled={draft.seconds === ''}
            onChange={(most) => set({ secondsMost: numberOf(most) })}
          />
        </div>
        <TickBox checked={draft.aboutPersons} onChange={(aboutPersons) => set({ aboutPersons })}>
          It fires also while a person is there
        </TickBox>
        {draft.aboutPersons && (
          <Notice tone="warning">
            {errorOf('aboutPersons') ??
              'A person does not keep this rule from firing. Water and noise can hurt and frighten people.'}
          </Notice>
        )}
        <TextInput
          label="Name"
          value={draft.name}
          placeholder={proposed}
          maxLength={100}
          error={errorOf('name')}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        {isComplete ? (
          <Meaning preview={preview.data} index={index} />
        ) : (
          <p className={styles.quiet}>Choose what it sees and what it fires. Then this shows what the rule means.</p>
        )}
        <FilePassword {...password} />
        {[change.error, preview.error].map(
          (error) =>
            error !== null && (
              <Notice key={String(error)} tone="danger">
                {messageOf(error)}
              </Notice>
            ),
        )}
        {isOutdated && (
          <Button variant="default" size="compact-sm" onClick={() => void reload()}>
            Load it again
          </Button>
        )}
        <DialogActions onCancel={life.onClose}>
          <Button type="submit" loading={change.isPending} disabled={!isComplete || password.isMissing}>
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

const pairs = (names: readonly string[]) => names.map((name) => [name, name] as const)

const names = (cameras: Settings['names']['cameras']) => cameras.map(({ name }) => name)

const numberOf = (value: string | number) => (typeof value === 'number' ? value : '')

const codeOf = (error: unknown) => (error instanceof DeviceError ? error.code : undefined)
