import { Button, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState, type FormEvent } from 'react'
import type { SettingsEdit } from '@hedgerow/contract/device-interface'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { DeviceError } from '../calls.ts'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import styles from '../parts/form.module.css'
import { draftOf, followsSun, proposedName, ruleOf, type RuleDraft, type WrittenRule } from '../parts/rule-draft.ts'
import {
  elsewhere,
  errorAt,
  toldAt,
  untold,
  useBase,
  useChangeSettings,
  useIsFileBusy,
  usePreview,
  type Settings,
} from '../settings.ts'
import { groupIn, listIn } from '../written.ts'
import { NO_PLACE, PlaceFields, ThenFields, WhenFields } from './rule-fields.tsx'
import { Meaning } from './rule-meaning.tsx'

type RuleFormProps = {
  settings: Settings
  /** Undefined for a new rule. */
  name: string | undefined
  onReload: () => Promise<Settings | undefined>
  onGone: () => void
}

const PREVIEW_AFTER_MS = 400
/** The keys of a rule whose fields tell their errors, in the order of the form, and what the form calls them. */
const FIELDS = new Map([
  ['labels', 'When it sees'],
  ['cameras', 'On the cameras'],
  ['zones', 'In the zones'],
  ['hours', 'At these times'],
  ['days', 'On these days'],
  ['minimumScore', 'Lowest score'],
  ['fire', 'Then it fires'],
  ['seconds', 'Seconds'],
  ['name', 'Name'],
])
/** What can be wrong before a deterrent is chosen. */
const WHEN_FIELDS = ['labels', 'cameras', 'zones', 'hours', 'days', 'minimumScore']

/** Adds or changes a rule: “When … then …”, with the sentence that it means and what it would have done. */
export function RuleForm({ settings, name, onReload, onGone }: RuleFormProps) {
  const life = useDialogLife(onGone)
  const isThis = (rule: WrittenRule) => rule['name'] === name
  const change = useChangeSettings()
  const [base, setBase] = useBase(settings, (file) => rulesIn(file).find(isThis), change.isPending || change.isSuccess)
  const isBusy = useIsFileBusy()
  const rules = rulesIn(base)
  const found = rules.findIndex(isThis)
  const index = found < 0 ? rules.length : found
  const before = rules[index] ?? {}
  const own = draftOf(before)
  const [draft, setDraft] = useState<RuleDraft>(own)
  const password = useFilePassword()
  const proposed = proposedName(
    draft,
    rules.map((rule) => String(rule['name'])),
  )
  const rule = ruleOf({ ...draft, name: draft.name.trim() || proposed }, before)
  const isComplete = draft.labels.length > 0 && draft.fire.length > 0
  const deterrents = Object.keys(groupIn(base.settings, 'deterrents'))
  /** Before one is chosen, any other: an unknown label is told when it is added. */
  const fire = draft.fire.length > 0 ? draft.fire : deterrents.slice(0, 1)
  const [place, setPlace] = useState(NO_PLACE)
  const needsPlace = followsSun(draft) && groupIn(base.settings, 'site')['latitude'] === undefined
  const edits: SettingsEdit[] = [{ path: ['rules', index], value: rule as Settings['settings'] }]
  if (needsPlace && place.latitude !== '' && place.longitude !== '')
    edits.push(...Object.entries(place).map(([key, value]) => ({ path: ['site', key], value })))
  const isAsked = draft.labels.length > 0 && fire.length > 0
  const wanted = isAsked
    ? JSON.stringify(edits.with(0, { ...edits[0]!, value: { ...rule, fire } as SettingsEdit['value'] }))
    : ''
  const [asked] = useDebouncedValue(wanted, PREVIEW_AFTER_MS)
  const previewed = isAsked && asked !== '' ? (JSON.parse(asked) as SettingsEdit[]) : undefined
  const preview = usePreview(previewed, base.hash, isBusy)
  const isAsking = wanted !== asked || preview.isPending || preview.isFetching
  const isOutdated = [change.error, preview.error].some((error) => codeOf(error) === 'file_changed')

  function set(part: Partial<RuleDraft>): void {
    setDraft({ ...draft, ...part })
    // What was refused is not what stands here now.
    if (change.isError) change.reset()
  }

  const isOfRule = ({ path }: { path: readonly unknown[] }) => path[0] === 'rules' && path[1] === index
  const problems = ((isAsked && preview.data?.errors) || []).filter(
    (problem) => isComplete || (isOfRule(problem) && WHEN_FIELDS.includes(String(problem.path[2]))),
  )
  const errorOfPlace = (key: string) =>
    problems.find(({ path }) => path.join('.') === `site.${key}`)?.message ?? errorAt(change.error, ['site', key])
  function errorOf(key: string): string | undefined {
    const told = problems.find((problem) => isOfRule(problem) && problem.path[2] === key)?.message
    if (key === 'hours' && needsPlace) return undefined
    const message = told ?? errorAt(change.error, ['rules', index, key])
    return message !== undefined && key === 'minimumScore' ? 'This must be from 0 to 100 %.' : message
  }

  function isTold(path: string): boolean {
    const [part, at, key = ''] = path.split('.')
    if (part === 'site') return needsPlace && Object.hasOwn(place, at ?? '')
    const hasField = FIELDS.has(key) || (key === 'aboutPersons' && draft.aboutPersons)
    return part === 'rules' && at === String(index) && hasField
  }

  /** Other rules have names. */
  function words(path: string): string | undefined {
    const [part, at = ''] = path.split('.')
    if (part === 'rules' && at === String(index)) return undefined
    const other = part === 'rules' ? rules[Number(at)]?.['name'] : undefined
    return other === undefined ? elsewhere(path) : `In the rule ${String(other)}`
  }
  const notices = new Set([
    ...untold(change.error, isTold, words),
    ...untold(preview.error, isTold, words),
    ...problems.flatMap(({ path, message }) => (isTold(path.join('.')) ? [] : toldAt(words(path.join('.')), message))),
  ])

  const wrong = [...FIELDS].flatMap(([key, words]) => (errorOf(key) === undefined ? [] : [words]))
  const fields = { draft, own, set, errorOf }

  function save(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const form = event.currentTarget
    const onError = () => focusFirstError(form)
    change.mutate({ edits, hash: base.hash, ...password.given }, { onSuccess: life.onClose, onError })
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
        <WhenFields {...fields} names={base.names}>
          {needsPlace && <PlaceFields place={place} errorOf={errorOfPlace} onChange={setPlace} />}
        </WhenFields>
        <ThenFields {...fields} deterrents={deterrents} />
        <TextInput
          label="Name"
          value={draft.name}
          placeholder={proposed}
          maxLength={100}
          error={errorOf('name')}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        {isComplete ? (
          <Meaning preview={preview.data} isPending={isAsking} index={index} wrong={wrong} />
        ) : (
          <p className={styles.quiet}>Choose what it sees and what it fires. Then this shows what the rule means.</p>
        )}
        <FilePassword {...password} />
        {[...notices].map((sentence) => (
          <Notice key={sentence} tone="danger">
            {sentence}
          </Notice>
        ))}
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

const rulesIn = ({ settings }: Settings) => listIn(settings, 'rules') as WrittenRule[]

const codeOf = (error: unknown) => (error instanceof DeviceError ? error.code : undefined)
