import { channelType } from '../channel.ts'
import { createMailer } from '../mailer.ts'
import { channel as email, textOf } from './email.ts'

/** Mail to one person: alerts of rules that name them, and what concerns their own account. */
export const channel = channelType({
  name: 'person',
  audience: 'person',
  sharedSettings: 'email',
  fields: email.fields,
  open(smtp, { reach }) {
    const mailer = createMailer({ ...smtp, reach })
    return {
      problem: () => undefined,
      async send(messages) {
        for (const message of messages)
          await mailer.send({
            to: message.to ?? '',
            id: message.serial,
            subject: message.title,
            text: textOf(message),
            ...(message.picture && { pictures: [message.picture] }),
          })
      },
      close: mailer.close,
    }
  },
  batch: 1,
  sendingsATurn: 100,
  pauseMs: 0,
  goesOnAfterFailure: true,
  interrupted: 'failed',
  taken: 'The mail server took it.',
})
