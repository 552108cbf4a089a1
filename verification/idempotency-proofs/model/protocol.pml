/* One key and N callers with ATT attempts each; every attempt has a claim id of its own. The store is atomic, and
 * everything between two requests interleaves freely with time and with the other callers. Time is counted in thirds
 * of a lease. A model without an option M_... is the protocol; each M_... is a defect that a rule must find. README.md
 * says what is checked. */
#ifndef N
#define N 2
#endif
#ifndef ATT
#define ATT 2
#endif
#define IDS (N*ATT+1)
#define LEASE 3

/* How often each fault may happen. */
#ifndef FAULTS      /* a request is lost, its reply is lost, or the driver sends it twice */
#define FAULTS 0
#endif
#ifndef ZOMBIES     /* a request is applied after its time-out, at any later time */
#define ZOMBIES 0
#endif
#ifndef CRASHES     /* an owner ends at once, and its client calls again */
#define CRASHES 0
#endif
#ifndef STALLS      /* an owner pauses for any time and goes on */
#define STALLS 0
#endif
#ifndef CUTS        /* the renewals of an owner do not reach the store, while its work goes on */
#define CUTS 0
#endif
#ifndef FAILS       /* the work throws and has had no effect */
#define FAILS 1
#endif
#ifndef LOST_SIGHT  /* the caller is answered, the work may still act, and its end cannot be seen */
#define LOST_SIGHT 0
#endif
#ifndef CLOSES      /* a node is closed while a completion is outstanding */
#define CLOSES 0
#endif
#ifndef RETENTIONS  /* the retention of the record is over */
#define RETENTIONS 0
#endif
#ifndef LOSSES      /* the store loses the record, or an operator removes it */
#define LOSSES 0
#endif
#ifndef RECFAILS    /* the look-up of an earlier result throws */
#define RECFAILS 0
#endif

#ifdef M_RENEWS_ONCE_A_LEASE
#define PERIOD LEASE
#else
#define PERIOD 1
#endif

/* What a claim asks for; the record keeps it. Usually all callers repeat one request. */
#ifdef REQUESTS     /* each caller has a request of its own */
#define REQUEST(i) ((i - 1) / ATT)
#else
#define REQUEST(i) 0
#endif

mtype = { ABSENT, ISSUED, RUNNING, TAKEN_OVER, NOBODYS, DONE, NONE, CLAIM, COMPLETE, RELEASE,
          ACQ, TAKEN, INPROG, ABAND, COMPL, MISMATCH, UNKNOWN, OK, REFUSED, ERR };

#ifdef TOKEN
#define FREE ISSUED
#else
#define FREE ABSENT
#endif

/* ---- the record: its state, whose claim it is, what is left of the lease, whose result it is, and of which request */
mtype st = FREE; byte own = 0, rest = 0, res = 0, fp = 0;

/* ---- the world */
byte faults = FAULTS, zombies = ZOMBIES, crashes = CRASHES, stalls = STALLS, cuts = CUTS, fails = FAILS,
     lostsight = LOST_SIGHT, closes = CLOSES, retentions = RETENTIONS, losses = LOSSES, recfails = RECFAILS;

/* ---- of each caller */
byte cur[N];                /* the claim that it renews */
bool beat[N];               /* it renews */
bool tried[N];              /* it has tried to renew since time last moved */
bool deaf[N];               /* nothing of it reaches the store: it is paused or cut off */
byte age[N];                /* time since its last accepted claim or renewal was sent */
byte missed[N];             /* renewals in a row that failed */

/* ---- of each claim */
bool eff[IDS];              /* its run had its effect */
bool exc[IDS];              /* a fault explains why its owner may have lost it */

byte effects = 0, firsteff = 0, nfin = 0, inside = 0, seen = 0;
bool excused = 0, retended = 0;
hidden byte j;
mtype zk = NONE; byte zid = 0, zval = 0;

#define HELD (st == RUNNING || st == TAKEN_OVER)
#define excuse(i) exc[i] = 1; excused = 1

/* Rule 1: a second effect needs a fault that kept one of the two owners from renewing its claim. */
inline check(i) {
#ifdef P_ONCE                   /* the effect happens at most once, whatever befalls the owner */
  assert(effects <= 1);
#endif
  j = 1;
  do :: j < IDS -> if :: j != i && eff[j] -> assert(exc[i] || exc[j] || retended) :: else fi; j++ :: else -> break od; j = 0
}

/* ---- the state table, one inline for each verb */
inline apply_claim(i, rr, vv) {
  if
  :: st == ABSENT ->
#ifdef TOKEN
     rr = UNKNOWN
#else
     st = RUNNING; own = i; rest = LEASE; fp = REQUEST(i); rr = ACQ
#endif
  :: st == ISSUED -> st = RUNNING; own = i; rest = LEASE; fp = REQUEST(i); rr = ACQ
#ifndef M_CLAIM_DOES_NOT_FIND_ITSELF
  :: HELD && own == i -> rest = LEASE; if :: st == TAKEN_OVER -> rr = TAKEN :: else -> rr = ACQ fi
  :: st != ABSENT && st != ISSUED && !(HELD && own == i) && fp != REQUEST(i) -> rr = MISMATCH
  :: HELD && own != i && rest > 0 && fp == REQUEST(i) -> rr = INPROG
  :: ((HELD && own != i && rest == 0) || st == NOBODYS) && fp == REQUEST(i) ->
#else
  :: HELD && rest > 0 -> rr = INPROG
  :: (HELD && rest == 0) || st == NOBODYS ->
#endif
#ifdef REFUSE
     rr = ABAND
#else
     st = TAKEN_OVER; own = i; rest = LEASE; rr = TAKEN
#endif
  :: st == DONE && fp == REQUEST(i) -> rr = COMPL; vv = res
  fi
}
inline apply_renew(i, rr) {
#ifdef M_RENEW_WITHOUT_CLAIM_ID
  if :: HELD -> rest = LEASE; rr = OK :: else -> rr = REFUSED fi
#else
  if :: HELD && own == i -> rest = LEASE; rr = OK :: else -> rr = REFUSED fi
#endif
}
#ifdef M_NOBODYS_TAKES_ANY_REQUEST        /* the fingerprint is not compared */
#define NOBODYS_TAKES(i) true
#else
#define NOBODYS_TAKES(i) (fp == REQUEST(i))
#endif
inline apply_complete(i, v, rr) {
  if
#ifdef LOCK                               /* forget: a completion without retention */
  :: (HELD && own == i) || st == NOBODYS || st == ABSENT || st == ISSUED -> st = ABSENT; own = 0; rest = 0; rr = OK
#else
#ifdef M_COMPLETE_AFTER_TAKE_OVER         /* the claim id is not compared */
  :: HELD -> st = DONE; own = i; res = v; rest = 0; rr = OK
#else
  :: HELD && own == i -> st = DONE; res = v; rest = 0; rr = OK
#endif
#ifndef M_REPEATED_COMPLETION_IS_REFUSED
  :: st == DONE && own == i -> rr = OK
#endif
#ifndef M_LATE_SUCCESS_IS_DROPPED
  :: (st == ABSENT || st == ISSUED) && !retended -> st = DONE; own = i; res = v; rest = 0; fp = REQUEST(i); rr = OK
  :: st == NOBODYS && NOBODYS_TAKES(i) && !retended -> st = DONE; own = i; res = v; rest = 0; rr = OK
#endif
#endif
  :: else -> rr = REFUSED;
     assert(retended || !(st == ABSENT || st == ISSUED || st == NOBODYS && fp == REQUEST(i)))   /* Rule 2: a success that nobody else's claim forbids is kept */
  fi
}
inline apply_release(i, rr) {
  if
#ifdef M_RELEASE_WITHOUT_CLAIM_ID
  :: HELD ->
#else
  :: HELD && own == i ->
#endif
     rest = 0;
#ifndef M_RELEASE_WASHES_CLEAN
     if :: st == TAKEN_OVER -> st = NOBODYS :: else -> st = FREE fi;
#else
     st = FREE;
#endif
     own = 0; rr = OK
  :: st == ABSENT || st == ISSUED || st == NOBODYS -> rr = OK
  :: else -> rr = REFUSED
  fi
}

/* ---- a request on its way */
inline claim(i, rr, vv) { atomic {
  if
  :: apply_claim(i, rr, vv)
  :: faults > 0 -> faults--; rr = ERR
  :: faults > 0 -> faults--; apply_claim(i, rr, vv); rr = ERR
  :: faults > 0 -> faults--; apply_claim(i, rr, vv); apply_claim(i, rr, vv)
  :: zombies > 0 && zk == NONE -> zombies--; zk = CLAIM; zid = i; rr = ERR
  fi;
  assert(rr != INPROG || own != i) }              /* Rule 3: no call is refused because of its own claim */
}
inline renew(i, rr) { atomic {
  if
  :: apply_renew(i, rr)
  :: faults > 0 -> faults--; rr = ERR
  :: faults > 0 -> faults--; apply_renew(i, rr); rr = ERR
  fi }
}
inline complete(i, v, rr) { atomic {
  if
  :: apply_complete(i, v, rr)
  :: faults > 0 -> faults--; rr = ERR
  :: faults > 0 -> faults--; apply_complete(i, v, rr); rr = ERR
  :: faults > 0 -> faults--; apply_complete(i, v, rr); apply_complete(i, v, rr)
  :: zombies > 0 && zk == NONE -> zombies--; zk = COMPLETE; zid = i; zval = v; rr = ERR
  fi }
}
inline release(i, rr) { atomic {
  if
  :: apply_release(i, rr)
  :: faults > 0 -> faults--; rr = ERR
  :: faults > 0 -> faults--; apply_release(i, rr); rr = ERR
  :: faults > 0 -> faults--; apply_release(i, rr); apply_release(i, rr)
  :: zombies > 0 && zk == NONE -> zombies--; zk = RELEASE; zid = i; rr = ERR
  fi }
}

/* ---- what may befall an owner between any two of its steps */
inline stop_renewing() { beat[me] = 0; missed[me] = 0; deaf[me] = 0; age[me] = 0 }
inline leave() { if :: in -> in = 0; inside-- :: else fi }
#if CRASHES > 0
#define CRASH_HERE :: atomic { crashes > 0 -> crashes--; excuse(id); stop_renewing(); leave(); goto attempt }
#else
#define CRASH_HERE
#endif
#if STALLS > 0
#define STALL_HERE :: atomic { stalls > 0 -> stalls--; deaf[me] = 1; excuse(id) }; deaf[me] = 0
#else
#define STALL_HERE
#endif
#if CUTS > 0
#define CUT_HERE :: atomic { cuts > 0 && beat[me] -> cuts--; deaf[me] = 1; excuse(id) }
#else
#define CUT_HERE
#endif
#define MISHAP if :: skip CRASH_HERE STALL_HERE CUT_HERE fi

proctype Call(byte me) {
  byte a = 0, id = 0, val = 0, tries = 0; mtype r; bool in = 0, taken = 0;
attempt:
  atomic {
    r = NONE; val = 0; tries = 0; taken = 0;
    if :: a == ATT -> id = 0; goto fin :: else -> a++; id = me*ATT + a fi;
    age[me] = 0                                 /* the lease counts from here, where the claim is sent */
  }
again:
  claim(id, r, val);
  if                                            /* the reply may come at any later time */
  :: r == ACQ -> goto fresh
  :: r == TAKEN -> taken = 1; goto fresh
  :: r == INPROG || r == ABAND || r == MISMATCH -> goto attempt
  :: atomic { r == UNKNOWN -> assert(retended || zombies < ZOMBIES); goto fin }   /* Rule 4: a token that was given back is usable */
  :: r == COMPL -> atomic {
       assert(eff[val] && REQUEST(val) == REQUEST(id));   /* Rule 5: a replay is the result of a run of the same request, ... */
       assert(seen == 0 || seen == val || retended);   /* ... and all replays are equal */
       seen = val; goto fin }
  :: atomic { r == ERR && tries == 0 -> tries = 1 }; goto again   /* once more, with the same claim id */
  :: r == ERR -> goto giveback
  fi;
giveback:
#ifndef M_LOST_CLAIM_IS_NOT_GIVEN_BACK
  release(id, r);
  if :: r == ERR -> goto giveback :: else fi;
#endif
  goto attempt;
fresh: skip;                                    /* is the first renewal due already? */
#ifdef M_LEASE_COUNTS_FROM_THE_REPLY
  age[me] = 0;
#endif
  atomic {
    if
#ifdef M_STARTS_ON_A_CLAIM_THAT_IS_DUE
    :: true -> cur[me] = id; beat[me] = 1; tried[me] = 0; goto owns
#else
    :: age[me] < 1 -> cur[me] = id; beat[me] = 1; tried[me] = 0; goto owns
    :: age[me] >= 1 && tries < 3 -> tries++; age[me] = 0
    :: age[me] >= 1 && tries == 3 -> goto giveback
#endif
    fi }
  renew(id, r);
  if
  :: r == OK -> goto fresh
  :: r == REFUSED -> goto attempt
  :: r == ERR -> goto giveback
  fi;
owns: skip;
#ifdef RECOVER
  if
  :: !taken -> goto act
  :: taken -> skip
  fi;
  MISHAP;
  if
  :: atomic { recfails > 0 -> recfails-- }; goto failed
  :: atomic { effects > 0 -> val = firsteff }; goto finish
  :: effects == 0 -> goto act
  fi;
#endif
act:
  val = id;
  MISHAP;
#ifdef LOCK
  atomic { in = 1; inside++; assert(inside == 1 || excused) };   /* Rule 6: in mode LOCK one call at a time is inside */
  MISHAP;
#endif
#if LOST_SIGHT > 0
  if
  :: atomic { lostsight > 0 -> lostsight--; excuse(id); stop_renewing() };
#ifdef M_LOST_SIGHT_IS_A_RELEASE
     exc[id] = 0; excused = 0; apply_release(id, r);
#endif
     goto unseen
  :: skip
  fi;
#endif
  if
  :: atomic { effects++; eff[id] = 1; if :: firsteff == 0 -> firsteff = id :: else fi;
#ifndef LOCK
       check(id)
#endif
     }
  :: atomic { fails > 0 -> fails-- }; goto failed
  fi;
  MISHAP;
  atomic { leave() };                           /* the work has returned; the record ends after it */
finish: skip;
#ifdef M_SUCCESS_IS_RELEASED
  goto failed;
#endif
  complete(id, val, r);
  if
  :: r == OK -> goto ended
  :: r == REFUSED -> goto refused
  :: r == ERR -> skip                           /* the caller has its result; the rest is in the background */
  fi;
#ifdef M_NOT_RENEWED_WHILE_OUTSTANDING
  beat[me] = 0;
#endif
#ifdef M_FAILED_COMPLETION_IS_A_RELEASE
  goto failed;
#endif
outstanding:
  MISHAP;
#ifdef M_COMPLETION_IS_NOT_REPEATED
  goto ended;
#endif
#if CLOSES > 0
  if :: atomic { closes > 0 -> closes--; excuse(id) }; complete(id, val, r); goto ended :: skip fi;
#endif
  if
  :: retended -> goto ended                     /* a completion is given up with its retention */
  :: skip
  fi;
  complete(id, val, r);
  if
  :: r == ERR -> goto outstanding
  :: r == REFUSED -> goto refused
  :: r == OK -> goto ended
  fi;
refused:
#ifndef LOCK
  atomic { assert(exc[id] || retended) };       /* Rule 7: an owner that lives loses no claim */
#endif
ended:
  atomic { leave(); stop_renewing() };
  goto fin;
failed:
  atomic {
    leave();
#ifdef M_RENEWED_AFTER_ITS_END
    age[me] = 0
#else
    stop_renewing()
#endif
  };
repeat:
  release(id, r);
  if
#ifndef M_RELEASE_IS_NOT_REPEATED
  :: r == ERR -> goto repeat
#endif
  :: else -> goto attempt
  fi;
unseen: skip;
#if LOST_SIGHT > 0
  if
  :: atomic { effects++; eff[id] = 1; if :: firsteff == 0 -> firsteff = id :: else fi;
#ifndef LOCK
       check(id)
#endif
     }
  :: skip
  fi;
  atomic { leave() };
#endif
fin:
  nfin++
}

/* The renewals of all nodes. A renewal that fails is sent again in the next third of the lease. */
#define DUE(m) (beat[m] && !deaf[m] && !tried[m] && age[m] >= PERIOD)
#if N == 1
#define ANY_DUE DUE(0)
#elif N == 2
#define ANY_DUE (DUE(0) || DUE(1))
#else
#define ANY_DUE (DUE(0) || DUE(1) || DUE(2))
#endif
inline sweep(m) {
  atomic { DUE(m) -> tried[m] = 1;
    if
    :: apply_renew(cur[m], r);
       if :: r == OK -> age[m] = 0; missed[m] = 0 :: else -> beat[m] = 0; missed[m] = 0 fi
    :: faults > 0 -> faults--; missed[m]++
    :: faults > 0 -> faults--; apply_renew(cur[m], r); missed[m]++
    fi;
    if :: missed[m] >= 2 -> missed[m] = 2; excuse(cur[m]) :: else fi }   /* the store was away for most of the lease */
}
active proctype Renewals() {
  mtype r;
end:
  do
  :: sweep(0)
#if N > 1
  :: sweep(1)
#endif
#if N > 2
  :: sweep(2)
#endif
  :: nfin == N -> break
  od
}

/* Time moves on when every renewal that is due has been tried; only callers that are paused or cut off are not waited for. */
inline older(m) { tried[m] = 0; if :: age[m] < LEASE -> age[m]++ :: else fi }
active proctype Time() {
  do
  :: atomic { !ANY_DUE ->
       if :: rest > 0 -> rest-- :: else fi;
       older(0);
#if N > 1
       older(1);
#endif
#if N > 2
       older(2);
#endif
     }
#if RETENTIONS > 0
  :: atomic { retentions > 0 && (st == DONE || st == ISSUED || st == NOBODYS || (HELD && rest == 0)) ->
       retentions--; excused = 1; retended = 1; seen = 0; st = ABSENT; own = 0; rest = 0 }
#endif
#if LOSSES > 0
  :: atomic { losses > 0 && st != ABSENT -> losses--; if :: own > 0 -> exc[own] = 1 :: else fi; excused = 1; seen = 0;
       st = ABSENT; own = 0; rest = 0; fp = 0 }
#endif
  :: nfin == N -> break
  od
}
#if ZOMBIES > 0
active proctype Net() {
  mtype r; byte v;
  do
  :: atomic { zk == CLAIM -> apply_claim(zid, r, v); zk = NONE; r = NONE; v = 0 }
  :: atomic { zk == COMPLETE -> apply_complete(zid, zval, r); zk = NONE; r = NONE }
  :: atomic { zk == RELEASE -> apply_release(zid, r); zk = NONE; r = NONE }
  :: nfin == N && zk == NONE -> break
  od
}
#endif
active proctype Rules() {
  nfin == N && zk == NONE;
  atomic {
    assert(!beat[0]);                           /* Rule 8: nothing is renewed after its end */
#if N > 1
    assert(!beat[1]);
#endif
#if N > 2
    assert(!beat[2]);
#endif
    assert(!HELD || excused || zombies < ZOMBIES)   /* Rule 9: no claim is left without an owner, unless a fault explains it */
  }
}
init { atomic { byte k = 0; do :: k < N -> run Call(k); k++ :: else -> break od } }

#ifdef LIVE
ltl ends { <> (nfin == N) }
#endif
