/* conflict = WAIT: an owner and two waiters on one node. A waiter registers for the local wake-up, then claims again, and
 * also asks the store from time to time. The owner succeeds, fails, or crashes; every waiter must end.
 * M_REGISTERS_AFTER_THE_CLAIM and M_NO_POLL leave out one of the two. NO_TIMEOUT shows what happens without a time-out. */
mtype = { ABSENT, RUNNING, DONE };
mtype st = RUNNING; bool over = 0; byte nfin = 0; bool reg[2], sig[2]; bool live = 1;
inline wake_all() { sig[0] = reg[0]; sig[1] = reg[1] }
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
  byte me = _pid - 2; byte fails = 1;
again:
#ifndef M_REGISTERS_AFTER_THE_CLAIM
  atomic { reg[me] = 1; sig[me] = 0 };
#endif
  atomic {
    if
    :: st == DONE -> goto fin
    :: st == ABSENT || (st == RUNNING && over) -> st = RUNNING; over = 0; live = 1; goto owner
    :: else
    fi
  };
#ifdef M_REGISTERS_AFTER_THE_CLAIM
  atomic { reg[me] = 1; sig[me] = 0 };
#endif
  if
  :: sig[me] -> sig[me] = 0; goto again
#ifndef M_NO_POLL
  :: atomic { st != RUNNING || over } -> goto again       /* polls that see nothing are left out */
#endif
#ifndef NO_TIMEOUT
  :: true -> goto fin
#endif
  fi;
owner:
  if
  :: atomic { st = DONE; live = 0 }; atomic { wake_all() }
  :: atomic { fails > 0 -> fails--; st = ABSENT; live = 0 }; atomic { wake_all() }
  fi;
fin: nfin++
}
ltl ends { <> (nfin == 2) }
