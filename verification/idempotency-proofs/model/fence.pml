/* Who owns a claim is decided by the claim id; the fence only orders claims. fence = max(clock of the store, last fence of
 * the record + 1); an absent record knows no last fence. The clock of the store may stand still, and with BACK it may
 * step back. M_FENCE_IS_THE_OWNER: ownership is decided by the fence. P_GROWS: the fence of a later claim is larger. */
mtype = { ABSENT, RUNNING, DONE };
mtype st = ABSENT; byte fence = 0, owner = 0, clock = 8, lastf = 0; bool over = 0;
bool beat[4]; byte nfin = 0; byte moves = 2, stalls = 1;
#ifdef M_FENCE_IS_THE_OWNER
#define OURS(i,f) (st == RUNNING && fence == f)
#else
#define OURS(i,f) (st == RUNNING && owner == i)
#endif
inline do_release() {
  atomic {
    if
    :: OURS(id, f) -> assert(owner == id);              /* nobody else's claim is deleted */
       st = ABSENT; over = 0
    :: !OURS(id, f) -> skip
    fi
  }
}
proctype Call(byte id) {
  byte f = 0;
  atomic {
    (st == ABSENT || st == DONE || (st == RUNNING && over));
    if :: st == DONE -> goto fin :: st != DONE -> skip fi;
    f = clock;
    if :: st == RUNNING && fence >= clock -> f = fence + 1
       :: else -> skip
    fi;
#ifdef P_GROWS
    assert(f > lastf);
#endif
    lastf = f; st = RUNNING; fence = f; owner = id; over = 0; beat[id] = 1
  }
  if :: skip :: atomic { stalls > 0 -> stalls--; beat[id] = 0 } fi;
  if
  :: atomic {
       if
       :: OURS(id, f) -> assert(owner == id); st = DONE /* nobody else's claim is completed */
       :: !OURS(id, f) -> skip
       fi }
  :: do_release();
     if :: skip :: do_release() fi                      /* sent again, because the reply was lost */
  fi;
  beat[id] = 0;
fin: nfin++
}
active proctype Clock() {
  do
  :: atomic { st == RUNNING && !over && !beat[owner] -> over = 1 }
  :: atomic { moves > 0 -> moves--; clock++ }
#ifdef BACK
  :: atomic { moves > 0 -> moves--; clock = clock - 2 }
#endif
  :: nfin == 3 -> break
  od
}
init { atomic { run Call(1); run Call(2); run Call(3) } }
