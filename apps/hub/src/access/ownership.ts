/** Who owns a gateway, or a request to enrol: a claim sets it, and an approval carries it over. */

export type Owned = { owner_id: string | null }

/** The column, for queries whose rows `Scope.has` or a function of this file judges. */
export const OWNED = 'owner_id' satisfies keyof Owned

export const ownedBy = (userId: string | null): Owned => ({ owner_id: userId })

export const ownerOf = ({ owner_id }: Owned): Owned => ({ owner_id })

export const isUnowned = ({ owner_id }: Owned): boolean => owner_id === null

export const isOwnedBy = ({ owner_id }: Owned, userId: string): boolean => owner_id === userId
