import { Link } from 'react-router'
import { useAutoApprovalSettings } from '#api/auto-approval.ts'

/** Who gets the mail, which another screen sets. */
export function MailRecipient() {
  const { data } = useAutoApprovalSettings(true)
  if (data === undefined) return null
  const { notificationEmail: address } = data
  return (
    <>
      {address === ''
        ? 'Mail goes only to people that a rule names.'
        : `Mail goes to ${address}, unless the rule names people.`}{' '}
      <Link to="/auto-approval-settings#notificationEmail">
        {address === '' ? 'Set the recipient' : 'Change the recipient'}
      </Link>
    </>
  )
}
