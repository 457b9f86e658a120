/** Mutations of the product that a test must detect: a line, and what a careless edit might make of it. */

export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The test that detects it, file and name; left out: the first seeds of the simulation do. */
  readonly noticedBy?: { readonly file: string; readonly test: string };
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'start whatever has the name',
    file: 'src/admission/starts.ts',
    find: 'await parts.hands.start(claim.containerId);',
    replace: 'await parts.hands.start(`tuneplane-${claim.spec.runId}`);',
  },
  {
    name: 'start in doubt, still created, not removed',
    file: 'src/admission/starts.ts',
    find: "if (state === 'created') return startFailed(claim, 'did not start the container', detail, parts);",
    replace: "if (state === 'created') return refuse('start_failed', { detail, rolledBack: true });",
  },
  {
    name: 'a roll-back that is refused because it runs is answered start_failed',
    file: 'src/admission/starts.ts',
    find: "if (taken.kind === 'look_again') return taken;",
    replace: '',
  },
  {
    name: 'a caller who is gone while its turn looks still gets a container',
    file: 'src/admission/claim-cards.ts',
    find: "if (gone.aborted) return { kind: 'client_gone' };",
    replace: '',
  },
  {
    name: 'a create in doubt is taken for any container of this instance',
    file: 'src/model/labels.ts',
    find: 'return labels[LABEL.life] === grant.life && labels[LABEL.admittedAt] === grant.admittedAt;',
    replace: 'return labels[LABEL.admittedBy] === grant.admittedBy;',
    noticedBy: {
      file: 'test/admission/claim.test.ts',
      test: 'a create that did not answer is not taken for what an earlier life of this gate created meanwhile',
    },
  },
  {
    name: 'the mark of an attempt is kept after a lost race',
    file: 'src/admission/yield-claim.ts',
    find: "attempts.end(spec.runId, { kind: 'look_again' });",
    replace: '',
  },
  {
    name: 'a renewal counts from its answer',
    file: 'src/lock/hold.ts',
    find: 'if (sentAt.monotonic > from.monotonic) from = sentAt;',
    replace: 'from = momentOf(clock);',
    noticedBy: {
      file: 'test/lock/hold.test.ts',
      test: 'a renewal counts from before it was sent, not from its answer',
    },
  },
  {
    name: 'the second look before a removal is left out',
    file: 'src/runtime/docker/remove.ts',
    find: 'const seen = await lookAt(id, parts);',
    replace: "const seen = { kind: 'seen', container: { id, state: only === 'created' ? 'created' : 'exited' } };",
  },
  {
    name: 'what the second look before a removal saw is ignored',
    file: 'src/runtime/docker/remove.ts',
    find: "if (!mayGo(container.state, only)) return { kind: 'left', state: container.state };",
    replace: '',
  },
  {
    name: 'the state that step 7 sees is ignored',
    file: 'src/admission/check-claims.ts',
    find: "if (hasLeft) return { kind: 'look_again' };",
    replace: '',
    noticedBy: {
      file: 'test/admission/claim.test.ts',
      test: 'shows that a job without cards has run and ended already: it is never started again',
    },
  },
  {
    name: "another's container is started",
    file: 'src/admission/answer-existing.ts',
    find: '      return waitForOther(existing.container, admission, parts);',
    replace:
      '      await parts.hands.start(existing.container.id);\n      return waitForOther(existing.container, admission, parts);',
  },
  {
    name: 'a sweep without age',
    file: 'src/admission/admissions.ts',
    find: 'isPastGrace: (id) => createdSince.ms(id) >= settings.claimGraceMs,',
    replace: 'isPastGrace: () => true,',
  },
  {
    name: 'the older one wins',
    file: 'src/admission/plan.ts',
    find: 'card.claims.some((claim) => claim.containerId !== containerId)',
    replace: 'card.claims.findIndex((claim) => claim.containerId === containerId) > 0',
  },
  {
    name: 'the list after the create is left out',
    file: 'src/admission/check-claims.ts',
    find: 'if (claims.length === 0) return [];',
    replace: "return claims.map(() => ({ kind: 'good' }));",
  },
  {
    name: 'a second container of the run does not count in step 7',
    file: 'src/admission/check-claims.ts',
    find: 'ofRun.length > 1 || (occupancy',
    replace: '(occupancy',
    noticedBy: {
      file: 'test/admission/claim.test.ts',
      test: 'shows a second container of the run, renamed before: ours yields, and that one answers',
    },
  },
  {
    name: 'what the events tell of a removed run is ignored',
    file: 'src/runtime/docker/remove.ts',
    find: "return ran === null ? null : { kind: 'had_run', container, exitCode: ran.exitCode };",
    replace: 'return null;',
  },
  {
    name: 'a start in doubt is sent again',
    file: 'src/admission/starts.ts',
    find: 'return settleDoubt(claim, answer.detail, parts);',
    replace: 'return start(claim, parts);',
  },
  {
    name: 'the line is walked from its end',
    file: 'src/admission/plan.ts',
    find: '    ...waiting.map((place) => ({',
    replace: '    ...waiting.toReversed().map((place) => ({',
  },
  {
    name: 'a place whose request is not in the turn keeps no card',
    file: 'src/admission/plan.ts',
    find: 'return one === undefined ? !hasContainer(runId, occupancy) : one.existing === null;',
    replace: 'return one !== undefined && one.existing === null;',
  },
];
