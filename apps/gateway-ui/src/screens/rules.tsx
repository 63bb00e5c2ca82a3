/** Rules: each rule of gateway.yaml as a sentence, their forms, and what they would have done in the last 24 hours. */
import { Button } from '@mantine/core'
import { useRef, useState } from 'react'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { messageOf } from '../calls.ts'
import { ChangeDialog, type Change } from '../parts/change-dialog.tsx'
import { useFilePassword } from '../parts/file-password.tsx'
import { SettingsPanel } from '../parts/settings-panel.tsx'
import { UndoBar } from '../parts/undo-bar.tsx'
import { useRules, useRuleTest, useStatus } from '../queries.ts'
import { useVisitor } from '../session.ts'
import { useChangeSettings, useSettings, type Settings } from '../settings.ts'
import { listIn } from '../written.ts'
import { RuleForm } from './rule-form.tsx'
import { firedInWords, Reason } from './rule-meaning.tsx'
import { PLACE, SECOND_LOOK } from './rule-settings.ts'
import styles from './rules.module.css'

export function RulesScreen() {
  const name = useStatus().data?.name ?? 'Gateway'
  return (
    <>
      <PageHead title="Rules" place={name} lead="Which detections fire which deterrents, without asking the hub." />
      <UndoBar />
      <Rules />
      <DryRun />
      <SettingsPanel {...PLACE} />
      <SettingsPanel {...SECOND_LOOK} />
    </>
  )
}

const namesIn = ({ settings }: Settings): string[] =>
  listIn(settings, 'rules').map((rule) => (rule as { name: string }).name)

function Rules() {
  const { mayManage } = useVisitor()
  const rules = useRules()
  const settings = useSettings(mayManage)
  const change = useChangeSettings()
  const { isNeeded } = useFilePassword()
  /** The name of the rule whose form is open; null for a new one. */
  const [open, setOpen] = useState<string | null>()
  const [asked, setAsked] = useState<Change>()
  const written = settings.data && namesIn(settings.data)

  const saving = useRef<Promise<unknown>>(Promise.resolve())
  /** Where the rule is in the file that the save before has written; undefined when it is gone, or cannot be read. */
  async function find(name: string): Promise<{ index: number; hash: string } | undefined> {
    await saving.current
    const { data } = await settings.refetch({ cancelRefetch: false })
    const index = data === undefined ? -1 : namesIn(data).indexOf(name)
    return data === undefined || index < 0 ? undefined : { index, hash: data.hash }
  }

  async function turn(name: string, isOn: boolean): Promise<void> {
    const found = await find(name)
    if (found === undefined) return
    const turned = { edits: [{ path: ['rules', found.index, 'enabled'], value: isOn }], hash: found.hash }
    if (isNeeded) setAsked({ ...turned, title: `${isOn ? 'Switch on' : 'Switch off'} the rule ${name}`, verb: 'Save' })
    else saving.current = change.mutateAsync(turned).catch(() => undefined)
  }

  async function remove(name: string, words: string): Promise<void> {
    const found = await find(name)
    if (found === undefined) return
    const edits = [{ path: ['rules', found.index] }]
    setAsked({ title: `Delete the rule ${name}`, words, verb: 'Delete', edits, hash: found.hash })
  }

  return (
    <Panel
      title="In force"
      actions={
        settings.data !== undefined && (
          <Button size="compact-sm" onClick={() => setOpen(null)}>
            Add a rule
          </Button>
        )
      }
    >
      {settings.error !== null && <Notice tone="danger">{messageOf(settings.error)}</Notice>}
      {change.error !== null && <Notice tone="danger">{messageOf(change.error)}</Notice>}
      {rules.data === undefined ? (
        <PanelWaiting query={rules} rows={3} label="Loading rules" />
      ) : rules.data.length === 0 ? (
        <PanelEmpty title="No rules">Nothing fires by itself yet.</PanelEmpty>
      ) : (
        <ul className={styles.list} aria-label="Rules">
          {rules.data.map(({ name, enabled, sentence, fired, reason }) => {
            const index = written?.indexOf(name) ?? -1
            return (
              <li key={name}>
                <div className={styles.head}>
                  <strong>{name}</strong>
                  <span className={styles.buttons}>
                    <Chip tone={enabled ? 'good' : 'neutral'}>{enabled ? 'on' : 'off'}</Chip>
                    {index >= 0 && (
                      <TickBox label={`${name} is on`} checked={enabled} onChange={(isOn) => void turn(name, isOn)} />
                    )}
                  </span>
                </div>
                <p>{sentence}</p>
                <p className={styles.count}>{firedInWords(fired)}</p>
                <Reason fired={fired} reason={reason} />
                {index >= 0 && settings.data !== undefined && (
                  <div className={styles.buttons}>
                    <Button
                      variant="default"
                      size="compact-sm"
                      aria-label={`Edit ${name}`}
                      onClick={() => void find(name).then((found) => found && setOpen(name))}
                    >
                      Edit
                    </Button>
                    <Button
                      variant="default"
                      size="compact-sm"
                      aria-label={`Delete ${name}`}
                      onClick={() => void remove(name, sentence)}
                    >
                      Delete
                    </Button>
                  </div>
                )}
              </li>
            )
          })}
        </ul>
      )}
      {open !== undefined && settings.data !== undefined && (
        <RuleForm
          settings={settings.data}
          name={open ?? undefined}
          onReload={async () => (await settings.refetch()).data}
          onGone={() => setOpen(undefined)}
        />
      )}
      {asked && <ChangeDialog {...asked} onGone={() => setAsked(undefined)} />}
    </Panel>
  )
}

function DryRun() {
  const test = useRuleTest()
  return (
    <Panel title="A dry run of the last 24 hours">
      {test.data === undefined ? (
        <PanelWaiting query={test} rows={4} label="Loading the dry run" />
      ) : test.data.length === 0 ? (
        <PanelEmpty title="Nothing was seen in the last 24 hours" />
      ) : (
        <ul className={styles.list} aria-label="Dry run">
          {test.data.map(({ id, label, camera, score, startedAt, answers }) => (
            <li key={`${id} ${label} ${startedAt}`}>
              <div className={styles.head}>
                <strong>
                  {label} on {camera}, {Math.round(score * 100)} %
                </strong>
                <RelativeTime at={startedAt} />
              </div>
              {answers.map(({ rule, text }) => (
                <p key={rule}>
                  {rule}: {text}
                </p>
              ))}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
