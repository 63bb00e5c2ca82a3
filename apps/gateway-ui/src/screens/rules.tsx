/** Rules: each rule of gateway.yaml as a sentence, and what the rules would have done in the last 24 hours. */
import { Chip } from '@hedgerow/ui/chip.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { useRules, useRuleTest, useStatus } from '../queries.ts'
import styles from './rules.module.css'

export function RulesScreen() {
  const name = useStatus().data?.name ?? 'Gateway'
  const rules = useRules()
  const test = useRuleTest()
  return (
    <>
      <PageHead title="Rules" place={name} lead="Which detections fire which deterrents, without asking the hub." />
      <Panel title="Active rules">
        {rules.data === undefined ? (
          <PanelWaiting query={rules} rows={3} label="Loading rules" />
        ) : rules.data.length === 0 ? (
          <PanelEmpty title="No rules">Add `rules` to the configuration.</PanelEmpty>
        ) : (
          <ul className={styles.list} aria-label="Rules">
            {rules.data.map((rule) => (
              <li key={rule.name}>
                <div className={styles.head}>
                  <strong>{rule.name}</strong>
                  <Chip tone={rule.enabled ? 'good' : 'neutral'}>{rule.enabled ? 'on' : 'off'}</Chip>
                </div>
                <p>{rule.sentence}</p>
                <p className={styles.count}>
                  {rule.fired === 0
                    ? 'It would not have fired in the last 24 hours.'
                    : `It would have fired ${rule.fired === 1 ? 'once' : `${rule.fired} times`} in the last 24 hours.`}
                </p>
              </li>
            ))}
          </ul>
        )}
      </Panel>
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
    </>
  )
}
