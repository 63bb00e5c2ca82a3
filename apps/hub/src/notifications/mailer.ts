import { createTransport } from 'nodemailer'

const CONNECT_TIMEOUT_MS = 10_000
const SILENCE_TIMEOUT_MS = 20_000

export type Mail = {
  to: string
  /** Of this message for good: its Message-ID is made from it. */
  id: string
  subject: string
  text: string
}

export type Mailer = {
  /** Resolves once the server has taken it; rejects with what the server said. */
  send(mail: Mail): Promise<void>
  close(): void
}

/** Sends plain text over SMTP: `url` is smtp:// (with STARTTLS where the server offers it) or smtps://. */
export function createMailer({ url, from }: { url: string; from: string }): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, id, subject, text }) {
      await transport.sendMail({
        from,
        to,
        subject,
        text,
        messageId: `<${id}@hedgerow.invalid>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
    },
    close: () => transport.close(),
  }
}
