import { Button, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState, type FormEvent } from 'react'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { DeviceError, messageOf } from '../calls.ts'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import styles from '../parts/form.module.css'
import { draftOf, proposedName, ruleOf, type RuleDraft, type WrittenRule } from '../parts/rule-draft.ts'
import { errorAt, useChangeSettings, usePreview, type Settings } from '../settings.ts'
import { groupIn, listIn } from '../written.ts'
import { ThenFields, WhenFields } from './rule-fields.tsx'
import { Meaning } from './rule-meaning.tsx'

type RuleFormProps = {
  settings: Settings
  /** Undefined for a new rule. */
  name: string | undefined
  onReload: () => Promise<Settings | undefined>
  onGone: () => void
}

const PREVIEW_AFTER_MS = 400

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

  const set = (part: Partial<RuleDraft>) => setDraft({ ...draft, ...part })
  function errorOf(key: string): string | undefined {
    const told = preview.data?.errors.find(({ path }) => path[1] === index && path[2] === key)?.message
    return (isComplete ? told : undefined) ?? errorAt(change.error, ['rules', index, key])
  }

  const fields = { draft, own, set, errorOf }

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
        <WhenFields {...fields} names={base.names} />
        <ThenFields {...fields} deterrents={Object.keys(groupIn(base.settings, 'deterrents'))} />
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

const codeOf = (error: unknown) => (error instanceof DeviceError ? error.code : undefined)
