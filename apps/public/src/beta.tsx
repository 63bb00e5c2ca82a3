import styles from './beta.module.css'
import buttons from './buttons.module.css'
import { Frame } from './frame.tsx'
import { DesignMark } from './section.tsx'

export const BETA_TITLE = 'Hedgerow Beta Program'

/** Placeholder for this hub's contact address; apps/hub/src/http/site.ts fills it in when it serves the page. */
const CONTACT_MARK = 'contact@hub.invalid'

const MAIL_SUBJECT = 'Hedgerow beta program'
const MAIL_BODY = [
  'Hello,',
  '',
  'I would like to test Hedgerow.',
  '',
  'What I want to watch:',
  'Number of cameras:',
  'The computer I have or would buy:',
  'Country of the site:',
  '',
].join('\r\n')

const mail = (field: string, text: string) => `${field}=${encodeURIComponent(text)}`
const mailTo = `mailto:${CONTACT_MARK}?${mail('subject', MAIL_SUBJECT)}&${mail('body', MAIL_BODY)}`

const GET = [
  'The whole software, hub and gateway, with its source, under the MIT licence',
  'No fee, and no account with us: the software sends us nothing',
  'Upgrades that keep everything',
]

const TODAY = [
  'The hub: dashboard, gateways, approvals, users and roles, settings, audit',
  'Zero-touch registration, approved on the web; claiming by a device’s QR label',
  'A gateway’s own page, and other applications beside it, from anywhere through its tunnel',
  'Detections of a Frigate or of any program, or of cameras without one: motion, and a model of yours',
  'Threats as pictures, reviewed with one key; learning at night from what you mark as wrong',
  'Rules that set off sprinklers and sirens: HTTP, MQTT, GPIO, Shelly, Tasmota, Rachio, Hydrawise and more',
  'Alerts by push, mail, Telegram, ntfy, Pushover or a webhook',
  'Devices that the hub’s line installed update themselves from signed releases',
  'Home Assistant and MQTT',
]

const LATER = [
  'Models that come with the software; today it knows without one that something moves, and not what',
  'A model for smoke',
  'Fewer false alarms and deterrents proven at a real site: so far both were tested with simulated devices',
]

/** `action`: what testers of this hub do first. They write to it when it has an email address. */
export function BetaPage({ action }: { action: 'write' | 'register' | 'sign-in' }) {
  return (
    <Frame current="beta">
      <section className={styles.top} aria-labelledby="beta">
        <div className={styles.inner}>
          <h1 id="beta">Beta Program</h1>
          <p className={styles.lead}>
            We are looking for people with land to watch, a little patience, and an opinion. You bring the hardware and
            the deer; we bring the software.
          </p>
          {action === 'write' ? (
            <>
              <p>
                <a className={buttons.primary} href={mailTo}>
                  Write to us
                </a>
              </p>
              <p className={styles.address}>
                It opens a letter to <strong>{CONTACT_MARK}</strong>.
              </p>
            </>
          ) : (
            <p>
              <a className={buttons.primary} href={action === 'register' ? '/register' : '/login'}>
                {action === 'register' ? 'Create an account' : 'Sign in'}
              </a>
            </p>
          )}
        </div>
      </section>
      <div className={styles.lists}>
        <List title="What testers get" entries={GET} />
        <List title="Works today" entries={TODAY} />
        <List title="Comes later" kind="later" entries={LATER} />
        <section aria-labelledby="buy">
          <h2 id="buy">What you need to buy</h2>
          <table className={styles.prices}>
            <tbody>
              <tr>
                <th scope="row">
                  Compact desktop computer<span>the gateway; two sizes will do</span>
                </th>
                <td>about $499 or $599</td>
              </tr>
              <tr>
                <th scope="row">
                  Camera<span>one that streams RTSP</span>
                </th>
                <td>about $299</td>
              </tr>
            </tbody>
            <tfoot>
              <tr>
                <th scope="row">Total</th>
                <td>$800-900</td>
              </tr>
            </tfoot>
          </table>
          <p className={styles.note}>
            <DesignMark>No model has been tested by us yet: the software was tested with simulated cameras.</DesignMark>
          </p>
        </section>
      </div>
    </Frame>
  )
}

function List({ title, kind, entries }: { title: string; kind?: 'later'; entries: readonly string[] }) {
  const id = title.toLowerCase().replaceAll(' ', '-')
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul className={styles.list} data-kind={kind}>
        {entries.map((entry) => (
          <li key={entry}>{entry}</li>
        ))}
      </ul>
    </section>
  )
}
