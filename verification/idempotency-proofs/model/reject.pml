/* Mode REJECT: a claim is final at once. The record is {claim id, attempts}; a claim that was sent again is answered as
 * the first time, and a release needs the claim id. M_WITHOUT_CLAIM_ID: the record is a counter, as INCR and DEL make it. */
mtype = { RUN, DUP, ERR };
#ifndef FAULTS
#define FAULTS 1
#endif
byte cnt = 0, own = 0, effects = 0, faults = FAULTS, fails = 1, nfin = 0;
inline apply_claim(i, rr) {
  if
#ifndef M_WITHOUT_CLAIM_ID
  :: cnt > 0 && own == i -> rr = RUN
#endif
  :: cnt == 0 -> cnt = 1; own = i; rr = RUN
  :: else -> if :: cnt < 7 -> cnt++ :: else fi; rr = DUP
  fi
}
inline apply_release(i) {
#ifndef M_WITHOUT_CLAIM_ID
  if :: own == i -> cnt = 0; own = 0 :: else fi
#else
  cnt = 0; own = 0
#endif
}
proctype Call(byte id) {
  mtype r; byte t = 0;
again:
  atomic {
    if
    :: apply_claim(id, r)
    :: faults > 0 -> faults--; r = ERR
    :: faults > 0 -> faults--; apply_claim(id, r); r = ERR
    :: faults > 0 -> faults--; apply_claim(id, r); apply_claim(id, r)
    fi
  }
  if
  :: r == DUP -> goto fin
  :: r == RUN -> skip
  :: r == ERR -> if :: t == 0 -> t = 1; goto again :: else -> goto undo fi
  fi;
  if
  :: atomic { effects++; assert(effects <= 1) }; goto fin
  :: atomic { fails > 0 -> fails-- }
  fi;
undo: skip;
rel:
  atomic {
    if
    :: apply_release(id); r = RUN
    :: faults > 0 -> faults--; r = ERR
    :: faults > 0 -> faults--; apply_release(id); r = ERR
    fi
  }
  if :: r == ERR -> goto rel :: else fi;
fin: nfin++
}
active proctype Rules() {
  nfin == 3;
  assert(effects == 1 || cnt == 0)              /* nothing has run, and yet every later call would be a duplicate */
}
init { atomic { run Call(1); run Call(2); run Call(3) } }
