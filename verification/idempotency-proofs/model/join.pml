/* transaction = JOIN in the Spring MVC adapter: claim, work and EXECUTED commit together, and the answer is attached right after
 * the commit. A duplicate waits for the row. While the short lease of EXECUTED lives, it is told "in progress", then
 * "done, no result". M_NO_LEASE_TO_ATTACH: EXECUTED has no lease. M_EXECUTED_IS_RELEASED: the reply of the commit is
 * lost, and the release of the owner deletes the record. */
mtype = { ABSENT, EXECUTED, DONE };
mtype st = ABSENT; bool locked = 0, excused = 0, lease = 0; byte effects = 0, nfin = 0;
proctype Call() {
  byte tries = 0;
again:
  atomic {
    !locked;                                        /* an insert waits for the other transaction */
    if
    :: st == ABSENT -> locked = 1
    :: st == DONE -> goto fin                       /* replay */
    :: st == EXECUTED && lease ->
       if :: tries < 2 -> tries++; goto again :: else -> goto fin fi
    :: st == EXECUTED && !lease ->
       assert(excused);                             /* the final refusal, although the owner lives and is about to attach */
       goto fin
    fi
  }
  if
  :: atomic { locked = 0 }; goto fin                /* threw: rolled back */
  :: atomic { locked = 0; st = EXECUTED; effects++; assert(effects <= 1);
#ifndef M_NO_LEASE_TO_ATTACH
       lease = 1
#endif
     }
  fi;
  if
  :: skip
  :: atomic { excused = 1; lease = 0; goto fin }    /* crash */
  :: atomic { excused = 1; lease = 0;               /* the reply of the commit is lost */
#ifdef M_EXECUTED_IS_RELEASED
       if :: st == EXECUTED -> st = ABSENT :: else fi
#endif
     }; goto fin
  fi;
  atomic { if :: st == EXECUTED -> st = DONE; lease = 0 :: else fi };
fin: nfin++
}
init { atomic { run Call(); run Call(); run Call() } }
