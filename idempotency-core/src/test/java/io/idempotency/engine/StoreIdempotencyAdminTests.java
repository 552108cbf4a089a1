package io.idempotency.engine;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

import com.sun.management.ThreadMXBean;
import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyEviction;
import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.StoredResult;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class StoreIdempotencyAdminTests {

	/**
	 * What an operator's view of one record may take at most. All records at once would
	 * take a hundred times as much as a page.
	 */
	private static final long BYTES_A_RECORD = 4096;

	private static final Duration LONG = Duration.ofHours(1);

	private static final Namespace SHOP = new Namespace("shop");

	private final IdempotencyStore store = new MemoryIdempotencyStore(256_000_000, Clock.systemUTC());

	private final IdempotencyAdmin admin = adminOf(this.store);

	private static IdempotencyAdmin adminOf(IdempotencyStore store) {
		return new StoreIdempotencyAdmin(store, (name) -> {
			throw new IllegalArgumentException(name);
		}, SHOP);
	}

	@Test
	void recordIsFoundByItsKeyAndItsCaller() {
		Claim claim = claim("pay", Caller.principal("alice"), "1");
		IdempotencyCaller alice = IdempotencyCaller.principal("alice");
		IdempotencyRecord record = this.admin.find("pay", alice, "1").orElseThrow();
		assertThat(record.id()).isEqualTo(claim.key().hashHex());
		assertThat(record.operation()).isEqualTo("pay");
		assertThat(record.callerId()).isEqualTo(this.admin.callerId(alice));
		assertThat(this.admin.findById("pay", record.id())).map(IdempotencyRecord::id).contains(record.id());
		assertThat(this.admin.find("pay", IdempotencyCaller.none(), "1")).isEmpty();
		assertThat(this.admin.find("pay", alice, "2")).isEmpty();
		assertThat(this.admin.find("order", alice, "1")).isEmpty();
	}

	@Test
	void callersAreDescribedAsCallsKnowThem() {
		claim("pay", Caller.GLOBAL, "1");
		claim("pay", Caller.ANONYMOUS, "2");
		claim("pay", Caller.scope("acme"), "3");
		claim("pay",
				Caller.principal("42").with("issuer", List.of("https://a")).with("header X-Tenant", List.of("t", "u")),
				"4");
		claim("pay", Caller.principal("42").with("registration", List.of("google")), "5");
		assertThat(this.admin.find("pay", IdempotencyCaller.none(), 1)).isPresent();
		assertThat(this.admin.find("pay", IdempotencyCaller.anonymous(), "2")).isPresent();
		assertThat(this.admin.find("pay", IdempotencyCaller.scope("acme"), "3")).isPresent();
		IdempotencyCaller issued = IdempotencyCaller.principal("42")
			.issuedBy("https://a")
			.withHeader("X-Tenant", "t", "u");
		assertThat(this.admin.find("pay", issued, "4")).isPresent();
		assertThat(this.admin.find("pay", IdempotencyCaller.principal("42").registeredWith("google"), "5")).isPresent();
		assertThat(this.admin.find("pay", IdempotencyCaller.principal("42"), "4")).isEmpty();
		assertThat(issued).asString().doesNotContain("42").doesNotContain("https");
	}

	@Test
	void keyWithoutPartsOrOfACallersIdIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.admin.find("pay", IdempotencyCaller.none()));
		assertThatIllegalArgumentException().isThrownBy(() -> this.admin.find("pay", IdempotencyCaller.none(), ""));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.admin.find("pay", IdempotencyCaller.id("0".repeat(24)), "1"));
		assertThatIllegalArgumentException().isThrownBy(() -> this.admin.findById("pay", "1"));
		assertThatIllegalArgumentException().isThrownBy(() -> IdempotencyCaller.principal(""));
		assertThatIllegalArgumentException().isThrownBy(() -> this.admin.list("pay", null, 0));
		assertThatIllegalArgumentException().isThrownBy(() -> this.admin.list("pay", null, 1001));
	}

	@Test
	void pageHasAtMostAsManyRecordsAsWereAskedFor() {
		Set<String> ids = new HashSet<>();
		for (int i = 0; i < 1001; i++) {
			ids.add(claim("pay", Caller.GLOBAL, Integer.toString(i)).key().hashHex());
		}
		claim("other", Caller.GLOBAL, "1");
		IdempotencyRecordPage one = this.admin.list("pay", null, 1);
		assertThat(one.records()).hasSize(1);
		assertThat(one.cursor()).isNotNull();
		IdempotencyRecordPage thousand = this.admin.list("pay", null, 1000);
		assertThat(thousand.records()).hasSize(1000);
		IdempotencyRecordPage rest = this.admin.list("pay", thousand.cursor(), 1000);
		assertThat(rest.records()).hasSize(1);
		assertThat(rest.cursor()).isNull();
		thousand.records().forEach((record) -> assertThat(ids.remove(record.id())).isTrue());
		assertThat(rest.records()).allSatisfy((record) -> {
			assertThat(record.operation()).isEqualTo("pay");
			assertThat(ids).containsExactly(record.id());
		});
	}

	@Test
	void recordsOfANamedStoreAreThose() {
		IdempotencyAdmin named = new StoreIdempotencyAdmin(new MemoryIdempotencyStore(1_000_000),
				Map.of("orders", this.store)::get, SHOP)
			.store("orders");
		claim("pay", Caller.GLOBAL, "1");
		assertThat(named.find("pay", IdempotencyCaller.none(), "1")).isPresent();
	}

	private static long allocated() {
		return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
	}

	@Tag("long")
	@Test
	void hundredThousandRecordsAreListedPageByPage() {
		Set<String> ids = new HashSet<>();
		for (int i = 0; i < 100_000; i++) {
			ids.add(claim("bulk", Caller.GLOBAL, Integer.toString(i)).key().hashHex());
		}
		claim("other", Caller.GLOBAL, "1");
		int pages = 0;
		String cursor = null;
		do {
			long before = allocated();
			IdempotencyRecordPage page = this.admin.list("bulk", cursor, 1000);
			assertThat(allocated() - before).as("bytes that a page takes").isLessThan(1000 * BYTES_A_RECORD);
			assertThat(page.records()).as("a page is all that is kept").hasSizeBetween(1, 1000);
			page.records().forEach((record) -> assertThat(ids.remove(record.id())).isTrue());
			cursor = page.cursor();
			pages++;
		}
		while (cursor != null);
		assertThat(ids).isEmpty();
		assertThat(pages).isEqualTo(100);
	}

	@Test
	void evictedKeyIsNew() {
		Claim claim = claim("pay", Caller.GLOBAL, "1");
		assertThat(this.admin.evict("pay", claim.key().hashHex(), false)).isEqualTo(new IdempotencyEviction(0, 1));
		this.store.complete(Completion.result(claim, Fingerprint.NONE, result(), LONG));
		assertThat(this.admin.evict("pay", claim.key().hashHex(), false)).isEqualTo(new IdempotencyEviction(1, 0));
		assertThat(this.admin.evict("pay", claim.key().hashHex(), true)).isEqualTo(new IdempotencyEviction(0, 0));
		claim("pay", Caller.GLOBAL, "1");
	}

	@Test
	void recordsOfOneCallerAreErasedAndNobodyElses() {
		List<IdempotencyKey> mine = new ArrayList<>();
		List<IdempotencyKey> others = new ArrayList<>();
		Caller alice = Caller.principal("alice");
		for (int i = 0; i < 1500; i++) {
			mine.add(done("pay" + i % 2, alice, Integer.toString(i)));
			others.add(done("pay" + i % 2, Caller.principal("bob"), Integer.toString(i)));
		}
		others.add(done("pay0", alice.with("issuer", List.of("a")), "1"));
		others.add(done("pay0", Caller.GLOBAL, "1"));
		IdempotencyKey running = claim("pay0", alice, "running").key();
		IdempotencyCaller whom = IdempotencyCaller.principal("alice");
		assertThat(this.admin.erase(whom, false)).isEqualTo(new IdempotencyEviction(1500, 1));
		assertThat(mine).noneMatch(this::isKept);
		assertThat(others).allMatch(this::isKept);
		assertThat(isKept(running)).isTrue();
		IdempotencyCaller byId = IdempotencyCaller.id(this.admin.callerId(whom));
		assertThat(this.admin.erase(byId, true).evicted()).isEqualTo(1);
		assertThat(isKept(running)).isFalse();
		assertThat(others).allMatch(this::isKept);
	}

	@Test
	void callersWithoutANameAreNotErased() {
		IdempotencyKey key = done("pay", Caller.ANONYMOUS, "1");
		for (IdempotencyCaller nobody : List.of(IdempotencyCaller.none(), IdempotencyCaller.anonymous(),
				IdempotencyCaller.id("0".repeat(24)))) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.admin.erase(nobody, true));
		}
		assertThat(isKept(key)).isTrue();
	}

	@Test
	void operationWithFewRecordsTakesFewSteps() {
		SparseRecords sparse = new SparseRecords();
		IdempotencyRecordPage page = adminOf(new OfferingStore(sparse)).list("pay", null, 10);
		assertThat(page.records()).isEmpty();
		assertThat(page.cursor()).as("a page ends, and the list goes on").isNotNull();
		assertThat(sparse.counts).hasSize(100).startsWith(10, 20, 40).endsWith(1000);
	}

	@Test
	void storeWithoutAnOfferSaysSo() {
		IdempotencyAdmin none = adminOf(new OfferingStore(null));
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> none.list("pay", null, 10))
			.withMessageContaining(OfferingStore.class.getName())
			.withMessageContaining("admin()");
	}

	@Test
	void storeThatFailsIsUnavailable() {
		RecordAdmin failing = new SparseRecords() {

			@Override
			public Optional<IdempotencyRecord> find(RecordKey key) {
				throw new IdempotencyStoreException("down");
			}

		};
		IdempotencyAdmin down = adminOf(new OfferingStore(failing));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> down.findById("pay", "0".repeat(64)));
	}

	private boolean isKept(IdempotencyKey key) {
		return this.admin.findById(key.operation(), key.hashHex()).isPresent();
	}

	private IdempotencyKey done(String operation, Caller caller, String value) {
		Claim claim = claim(operation, caller, value);
		this.store.complete(Completion.result(claim, Fingerprint.NONE, result(), LONG));
		return claim.key();
	}

	private Claim claim(String operation, Caller caller, String value) {
		ClaimResult result = this.store.claim(request(SHOP.key(operation, caller, value)));
		assertThat(result).isInstanceOf(ClaimResult.Acquired.class);
		return ((ClaimResult.Acquired) result).claim();
	}

	private static ClaimRequest request(IdempotencyKey key) {
		return ClaimRequest.of(key, LONG, LONG);
	}

	private static StoredResult result() {
		return new StoredResult("test", UUID.randomUUID().toString().getBytes(StandardCharsets.UTF_8));
	}

	/** A store with so many records of other operations that a walk never ends. */
	private static class SparseRecords implements RecordAdmin {

		private final List<Integer> counts = new ArrayList<>();

		@Override
		public Optional<IdempotencyRecord> find(RecordKey key) {
			return Optional.empty();
		}

		@Override
		public IdempotencyRecordPage scan(RecordSelection selection, String cursor, int count) {
			this.counts.add(count);
			return new IdempotencyRecordPage(List.of(), "more");
		}

		@Override
		public Eviction evict(RecordKey key, boolean force) {
			return Eviction.ABSENT;
		}

	}

	/** A store in memory that offers something else to operators. */
	private static final class OfferingStore extends ForwardingIdempotencyStore {

		private final RecordAdmin offer;

		OfferingStore(RecordAdmin offer) {
			super(new MemoryIdempotencyStore(1_000_000));
			this.offer = offer;
		}

		@Override
		public Optional<RecordAdmin> admin() {
			return Optional.ofNullable(this.offer);
		}

	}

}
