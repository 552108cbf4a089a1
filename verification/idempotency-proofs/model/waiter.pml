/* conflict = WAIT: an owner and two waiters on one node. A waiter registers for the local wake-up, then claims again, and
 * waits for the wake-up. One of those that wait has the turn and also asks the store from time to time; whoever hears that
 * the conflict has ended wakes up the others, and whoever leaves hands the turn on. The owner succeeds, fails, or crashes;
 * every waiter must end.
 * M_REGISTERS_AFTER_THE_CLAIM, M_NO_POLL and M_KEEPS_THE_TURN leave out one of these. NO_TIMEOUT shows what happens without
 * a time-out, ONE_TIMEOUT with one of the first waiter only. */
mtype = { ABSENT, RUNNING, DONE };
mtype st = RUNNING; bool over = 0; byte nfin = 0; bool reg[2], sig[2], waits[2], handed[2]; bool turn = 0; bool live = 1;
inline wake_all() { sig[0] = reg[0]; sig[1] = reg[1] }
#ifdef M_KEEPS_THE_TURN
inline leave() { skip }
#else
inline leave() { atomic { if :: !turn && waits[1 - me] -> handed[1 - me] = 1 :: else fi } }
#endif
active proctype Owner() {
  if
  :: atomic { st = DONE; live = 0 }; atomic { wake_all() }
  :: atomic { st = ABSENT; live = 0 }; atomic { wake_all() }
#ifndef NO_CRASH
  :: atomic { live = 0 }
#endif
  fi
}
active proctype Lease() { end: do :: atomic { st == RUNNING && !live && !over -> over = 1 } od }
active [2] proctype Waiter() {
  byte me = _pid - 2; byte fails = 1; bool mine = 0;
again:
#ifndef M_REGISTERS_AFTER_THE_CLAIM
  atomic { reg[me] = 1; sig[me] = 0 };
#endif
  atomic {
    if
    :: st == DONE -> goto told
    :: st == ABSENT || (st == RUNNING && over) -> st = RUNNING; over = 0; live = 1; goto owner
    :: else
    fi
  };
#ifdef M_REGISTERS_AFTER_THE_CLAIM
  atomic { reg[me] = 1; sig[me] = 0 };
#endif
  /* A handover that comes while nobody waits is lost, as a signal is. */
  atomic { waits[me] = 1; handed[me] = 0; if :: !turn -> turn = 1; mine = 1 :: else fi };
asleep:
  if
  :: atomic { sig[me] -> sig[me] = 0; waits[me] = 0; if :: mine -> turn = 0; mine = 0 :: else fi }; goto again
  :: atomic { !mine && handed[me] -> handed[me] = 0; if :: !turn -> turn = 1; mine = 1 :: else fi }; goto asleep
#ifndef M_NO_POLL
  /* polls that see nothing are left out */
  :: atomic { mine && (st != RUNNING || over) -> turn = 0; mine = 0; waits[me] = 0 }; goto again
#endif
#ifndef NO_TIMEOUT
#ifdef ONE_TIMEOUT
  :: atomic { me == 0 -> waits[me] = 0; if :: mine -> turn = 0; mine = 0 :: else fi }; goto fin
#else
  :: atomic { waits[me] = 0; if :: mine -> turn = 0; mine = 0 :: else fi }; goto fin
#endif
#endif
  fi;
owner:
  atomic { wake_all() };
  leave();
  if
  :: atomic { st = DONE; live = 0 }; atomic { wake_all() }
  :: atomic { fails > 0 -> fails--; st = ABSENT; live = 0 }; atomic { wake_all() }
  fi;
  goto done;
told:
  atomic { wake_all() };
fin:
  leave();
done: nfin++
}
ltl ends { <> (nfin == 2) }
