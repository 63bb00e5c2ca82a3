/** Names, search and the last admin in the list of users. Pure. */
import type { HubUser } from '@hedgerow/contract'

/** A person's name, or their username if the name is empty. */
export function nameOf({
  firstName,
  lastName,
  username,
}: Pick<HubUser, 'firstName' | 'lastName' | 'username'>): string {
  const name = `${firstName} ${lastName}`.trim()
  return name === '' ? username : name
}

/** The users that contain every word of `text`, in the order of the list. */
export function findUsers(users: readonly HubUser[], text: string): readonly HubUser[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return users
  return users.filter(({ username, firstName, lastName, email, role }) => {
    const held = `${username} ${firstName} ${lastName} ${email} ${role}`.toLowerCase()
    return words.every((word) => held.includes(word))
  })
}

/** Whether this is the only active admin, which the hub protects (`last_admin`). */
export function isLastAdmin(users: readonly HubUser[], { id }: Pick<HubUser, 'id'>): boolean {
  const admins = users.filter(({ role, active }) => role === 'admin' && active)
  return admins.length === 1 && admins[0]?.id === id
}
