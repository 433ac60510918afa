import type { Subject } from './subject.js'

/** What a scenario asks of a store, or of the options, beyond what every store must do. */
export type Requirement = 'order' | 'filter' | 'unique' | 'another'

/** `another` opens the rows of the subject a second time; for scenarios that require it. */
export type Check = (subject: Subject, another: () => Promise<Subject>) => Promise<void>

/** Sentences of the contract, each with what shows that a store keeps to it. */
export type Checks = Readonly<Record<string, Check>>
