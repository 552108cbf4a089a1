package io.idempotency.interceptor;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.Idempotent;
import io.idempotency.RememberedFailureException;
import io.idempotency.RetryAdvice;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;

import static io.idempotency.AbandonedMode.REJECT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Every attribute on a plain Spring bean. */
class MethodAdapterTests {

	private static final String PREFIX = Service.class.getName() + ".";

	private static AnnotationConfigApplicationContext context;

	private final Service service = context.getBean(Service.class);

	private final TestStore store = context.getBean(TestStore.class);

	private final TestRequest request = context.getBean(TestRequest.class);

	@BeforeAll
	static void start() {
		System.setProperty("test.retention", "7d");
		context = MethodAdapterSetup.start(Service.class, Other.class);
	}

	@AfterAll
	static void stop() {
		System.clearProperty("test.retention");
		context.close();
	}

	@BeforeEach
	void reset() {
		this.store.reset();
		this.request.reset();
		Service.runs.set(0);
	}

	@Test
	void aDuplicateGetsTheFirstResult() {
		Receipt first = this.service.pay("7", new BigDecimal("1.00"));
		Receipt second = this.service.pay("7", new BigDecimal("1.00"));
		assertThat(second).isEqualTo(first).isNotSameAs(first);
		assertThat(Service.runs).hasValue(1);
		assertThat(this.service.pay("8", BigDecimal.ONE).number()).isEqualTo(2);
	}

	@Test
	void theKeyIsABusinessKeyOfTheFullSignatureWithoutACaller() {
		this.request.principal = () -> "alice";
		this.service.pay("7", BigDecimal.ONE);
		assertThat(this.store.lastClaim().key())
			.isEqualTo(IdempotencyKey.of(PREFIX + "pay(java.lang.String,java.math.BigDecimal)", Caller.GLOBAL, "7"));
	}

	@Test
	void nothingIsComparedByDefault() {
		Receipt first = this.service.pay("7", BigDecimal.ONE);
		assertThat(this.service.pay("7", BigDecimal.TEN)).isEqualTo(first);
		assertThat(this.store.lastClaim().fingerprint().isNone()).isTrue();
	}

	@Test
	void everyElementOfAListIsPartOfTheKey() {
		this.service.list("a", "b,c", 1);
		assertThat(this.store.lastClaim().key())
			.isEqualTo(IdempotencyKey.of("list", Caller.GLOBAL, List.of("a", "b,c", "1")));
		this.service.list("a,b", "c", 1);
		assertThat(Service.runs).hasValue(2);
	}

	@Test
	void skipsDuplicateWithoutAnException() {
		this.service.tick("7", () -> this.service.tick("7", () -> {
		}));
		assertThat(Service.runs).hasValue(1);
		this.service.tick("7", () -> {
		});
		assertThat(Service.runs).hasValue(2);
		this.service.once("7");
		this.service.once("7");
		assertThat(Service.runs).hasValue(3);
	}

	@Test
	void doesNotSkipRejectionOfANestedCall() {
		this.service.reject("8");
		assertThatExceptionOfType(IdempotencyDuplicateException.class)
			.isThrownBy(() -> this.service.tick("7", () -> this.service.reject("8")));
	}

	@Test
	void aMissingKeyIsRejected() {
		assertThatExceptionOfType(IdempotencyKeyMissingException.class)
			.isThrownBy(() -> this.service.pay("", BigDecimal.ONE))
			.withMessageContaining(PREFIX + "pay")
			.withMessageContaining("The key expression '#order' of '" + Service.class.getName() + "#pay(")
			.withMessageContaining("Set the values that it reads");
		assertThatExceptionOfType(IdempotencyKeyMissingException.class)
			.isThrownBy(() -> this.service.list("a", null, 1));
		assertThat(Service.runs).hasValue(0);
		assertThat(this.store.claims()).isEmpty();
	}

	@Test
	void aMissingKeyThatIsNotRequiredRunsUnguarded() {
		this.service.optionalKey(null);
		this.service.optionalKey(null);
		this.service.optionalKey("7");
		this.service.optionalKey("7");
		assertThat(Service.runs).hasValue(3);
		assertThat(this.store.claims()).hasSize(2);
	}

	@Test
	void aKeyOfAnotherTypeIsAnErrorThatNamesTheMethodAndTheType() {
		assertThatIllegalStateException().isThrownBy(() -> this.service.anyKey(new Receipt("7", 1)))
			.withMessageContaining("'#key'")
			.withMessageContaining("MethodAdapterTests$Service#anyKey(Object)")
			.withMessageContaining("MethodAdapterTests$Receipt");
	}

	@Test
	void theKeyComesFromAHeader() {
		assertThatExceptionOfType(IdempotencyKeyMissingException.class).isThrownBy(this.service::header);
		this.request.headers.put("X-Key", List.of("\"k1\""));
		this.service.header();
		this.request.headers.put("X-Key", List.of("k1"));
		this.service.header();
		assertThat(Service.runs).hasValue(1);
		this.request.headers.put("X-Key", List.of("k1", "k2"));
		assertThatExceptionOfType(IdempotencyKeyInvalidException.class).isThrownBy(this.service::header);
	}

	@Test
	void theKeyComesFromTheBody() {
		assertThatExceptionOfType(IdempotencyKeyMissingException.class).isThrownBy(this.service::body);
		this.request.body.put("/order/id", 7);
		this.service.body();
		this.request.body.put("/order/id", "7");
		this.service.body();
		assertThat(Service.runs).hasValue(1);
	}

	@Test
	void aMalformedKeyInTheBodyIsRejected() {
		for (Object malformed : List.of("", "x".repeat(21), List.of("a"))) {
			this.request.body.put("/order/id", malformed);
			assertThatExceptionOfType(IdempotencyKeyInvalidException.class).isThrownBy(this.service::body)
				.withMessageContaining("'/order/id'");
		}
		assertThat(this.store.claims()).isEmpty();
	}

	@Test
	void rejectRejectsEveryDuplicateAndCountsIt() {
		assertThat(this.service.reject("7")).isEqualTo(1);
		assertThat(this.store.lastClaim().type()).isEqualTo(ClaimType.ONCE);
		assertThatExceptionOfType(IdempotencyDuplicateException.class).isThrownBy(() -> this.service.reject("7"))
			.satisfies((ex) -> assertThat(ex.attempts()).isEqualTo(2));
	}

	@Test
	void lockRejectsOverlappingCallsOnly() {
		this.service.lock("7", () -> assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.service.lock("7", () -> {
			})));
		this.service.lock("7", () -> {
		});
		assertThat(Service.runs).hasValue(2);
		assertThat(this.store.size()).isZero();
	}

	@Test
	void modesThatKeepNoResultReturnWhatTheyLike() {
		assertThat(this.service.anything("7")).isSameAs(Service.class);
	}

	@Test
	void anOverlappingDuplicateIsRejectedAtOnce() {
		this.service.nested("7", () -> assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.service.nested("7", () -> {
			})));
		assertThat(Service.runs).hasValue(1);
	}

	@Test
	void aWaitEndsAtItsTimeout() {
		this.service.waiting("7", () -> assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.service.waiting("7", () -> {
			})));
		assertThat(this.store.claims()).hasSizeGreaterThan(2);
	}

	@Test
	void aFailedCallReleasesItsKey() {
		assertThatIllegalStateException().isThrownBy(() -> this.service.failing("7")).withMessage("run 1");
		assertThatIllegalStateException().isThrownBy(() -> this.service.failing("7")).withMessage("run 2");
		assertThat(this.store.size()).isZero();
	}

	@Test
	void aRememberedFailureIsReplayedWithTheStatusThatItAskedFor() {
		catchThrowable(() -> this.service.declining("7"));
		assertThatExceptionOfType(RememberedFailureException.class).isThrownBy(() -> this.service.declining("7"))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(402));
	}

	@Test
	void aRememberedFailureIsReplayedByTypeAndMessage() {
		assertThatIllegalStateException().isThrownBy(() -> this.service.remembering("7")).withMessage("run 1");
		assertThatExceptionOfType(RememberedFailureException.class).isThrownBy(() -> this.service.remembering("7"))
			.withMessage("run 1")
			.satisfies((ex) -> assertThat(ex.type()).isEqualTo(IllegalStateException.class.getName()));
		assertThat(Service.runs).hasValue(1);
	}

	@Test
	void aRejectionThatIsRememberedAsksNobodyToComeBackWithTheSameKey() {
		Runnable rejected = () -> this.service.nested("8", () -> this.service.nested("8", () -> {
		}));
		IdempotencyInProgressException first = catchThrowableOfType(IdempotencyInProgressException.class,
				() -> this.service.rememberingNested("7", rejected));
		assertThat(first.retry()).isEqualTo(RetryAdvice.NEVER);
		assertThat(first.retryAfter()).isNull();
		assertThat(first)
			.hasToString(first.getClass().getName() + ": " + first.getMessage() + " [code=in-progress, retry=never]");
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.service.rememberingNested("7", rejected))
			.satisfies((again) -> assertThat(again.status()).isEqualTo(409));
	}

	@Test
	void aRejectionIsToBeRepeatedWhereTheCallAroundItKeepsNothing() {
		Runnable rejected = () -> this.service.nested("8", () -> this.service.nested("8", () -> {
		}));
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.service.rememberingNested("7", () -> {
				IdempotencyContext.current().orElseThrow().releaseKey();
				rejected.run();
			}))
			.satisfies((ex) -> assertThat(ex.retry()).isEqualTo(RetryAdvice.SAME_KEY));
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.service.nested("7", rejected))
			.satisfies((ex) -> assertThat(ex.retry()).isEqualTo(RetryAdvice.SAME_KEY));
	}

	@Test
	void checkedExceptionsComeOutAsTheyAre() {
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> this.service.checked("7"))
			.withMessage("checked")
			.isExactlyInstanceOf(Exception.class);
	}

	@Test
	void theScopeSaysWhoseKeyItIs() {
		this.service.scoped("acme", "7");
		assertThat(this.store.lastClaim().key()).isEqualTo(IdempotencyKey.of("scoped", Caller.scope("acme"), "7"));
		this.service.scoped("other", "7");
		assertThat(Service.runs).hasValue(2);
	}

	@Test
	void aMissingScopeIsNeverASharedOne() {
		for (String none : new String[] { null, "" }) {
			assertThatExceptionOfType(IdempotencyKeyInvalidException.class)
				.isThrownBy(() -> this.service.scoped(none, "7"))
				.withMessage("The request does not identify its caller. Send the value that identifies it, e.g. "
						+ "the tenant or the credentials")
				.withStackTraceContaining("The scope expression '#tenant' of '")
				.withStackTraceContaining("Service#scoped(String, String)' failed: It returned no scope")
				.satisfies((rejection) -> assertThat(rejection.operation()).isEqualTo("scoped"));
		}
		assertThatExceptionOfType(IdempotencyKeyInvalidException.class)
			.isThrownBy(() -> this.service.scopedByPrincipal("7"));
		this.request.principal = () -> "alice";
		assertThatIllegalStateException().isThrownBy(() -> this.service.scopedByObject("7"))
			.withMessageContaining("cannot be a key");
		assertThat(this.store.claims()).isEmpty();
	}

	@Test
	void theFingerprintMustBeEqualOnARetry() {
		this.service.fingerprint("7", new Receipt("a", 1));
		this.service.fingerprint("7", new Receipt("a", 1));
		assertThat(Service.runs).hasValue(1);
		assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> this.service.fingerprint("7", new Receipt("a", 2)));
		assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> this.service.fingerprint("7", null));
	}

	@Test
	void simpleFingerprintsCompareByTheirText() {
		this.service.fingerprint("7", 5);
		this.service.fingerprint("7", "5");
		this.service.fingerprint("7", Optional.of(5L));
		assertThat(Service.runs).hasValue(1);
		this.service.fingerprint("8", null);
		this.service.fingerprint("8", Optional.empty());
		assertThat(Service.runs).hasValue(2);
		assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> this.service.fingerprint("8", ""));
		this.service.fingerprint("9", Map.of("a", 1, "b", List.of(2)));
		this.service.fingerprint("9", new java.util.TreeMap<>(Map.of("b", List.of(2), "a", 1)));
		assertThat(Service.runs).hasValue(3);
	}

	@Test
	void aFingerprintThatCannotBeEncodedIsAnErrorThatNamesTheMethod() {
		Object cyclic = new Cyclic();
		assertThatIllegalStateException().isThrownBy(() -> this.service.fingerprint("7", cyclic))
			.withMessageContaining("Service#fingerprint(String, Object)");
		assertThat(this.store.claims()).isEmpty();
	}

	@Test
	void noneSwitchesTheFingerprintOff() {
		this.service.noFingerprint("7");
		assertThat(this.store.lastClaim().fingerprint().isNone()).isTrue();
	}

	@Test
	void durationsComeFromTextAndPlaceholders() {
		this.service.durations("7");
		assertThat(this.store.lastClaim().lease()).hasMillis(1500);
		assertThat(this.store.lastClaim().retention()).hasDays(7);
	}

	@Test
	void aDuplicateOfTheBusinessDataIsRejectedAndNeverRunsAgain() {
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.service.duplicate("7"))
			.withCauseInstanceOf(UniqueIndexException.class);
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.service.duplicate("7"));
		assertThat(Service.runs).hasValue(1);
	}

	@Test
	void aDuplicateOfTheBusinessDataIsRecoveredAndStored() {
		Service.recoverable = new Receipt("7", 99);
		assertThat(this.service.duplicateWithRecover("7")).isEqualTo(new Receipt("7", 99));
		Service.recoverable = null;
		assertThat(this.service.duplicateWithRecover("7")).isEqualTo(new Receipt("7", 99));
		assertThat(Service.runs).hasValue(1);
	}

	@Test
	void failsWhenRecoverDoesNotFindTheResultOfADuplicate() {
		Service.recoverable = null;
		assertThatExceptionOfType(UniqueIndexException.class).isThrownBy(() -> this.service.duplicateWithRecover("7"));
		assertThat(this.store.size()).isZero();
		Service.recoverable = new Receipt("7", 99);
		assertThat(this.service.duplicateWithRecover("7")).isEqualTo(new Receipt("7", 99));
		assertThat(Service.runs).hasValue(2);
	}

	@Test
	void anotherFailureIsNoDuplicate() {
		assertThatIllegalStateException().isThrownBy(() -> this.service.duplicateWithRecover("fail"));
		assertThat(this.store.size()).isZero();
	}

	@Test
	void afterADeadOwnerTheResultIsRecovered() {
		IdempotencyKey key = IdempotencyKey.of("duplicateWithRecover", Caller.GLOBAL, "7");
		this.store.abandoned(key);
		Service.recoverable = new Receipt("7", 99);
		assertThat(this.service.duplicateWithRecover("7")).isEqualTo(new Receipt("7", 99));
		assertThat(Service.runs).hasValue(0);
	}

	@Test
	void afterADeadOwnerNothingRecoveredMeansThatItRuns() {
		this.store.abandoned(IdempotencyKey.of("recovering", Caller.GLOBAL, "7"));
		assertThat(this.service.recovering("7")).isEqualTo(1);
	}

	@Test
	void afterADeadOwnerRejectRejects() {
		this.store.abandoned(IdempotencyKey.of("rejecting", Caller.GLOBAL, "7"));
		assertThatExceptionOfType(IdempotencyOutcomeUnknownException.class)
			.isThrownBy(() -> this.service.rejecting("7"));
		assertThat(this.service.rejecting("8")).isEqualTo(1);
	}

	@Test
	void aVoidMethodIsRecoveredByAnyValue() {
		this.store.tombstone(IdempotencyKey.of("recoverVoid", Caller.GLOBAL, "7"));
		this.service.recoverVoid("7");
		assertThat(Service.runs).hasValue(0);
	}

	@Test
	void recoverRunsThroughTheProxySoThatItsOwnAdviceApplies() {
		this.store.tombstone(IdempotencyKey.of("advised", Caller.GLOBAL, "7"));
		assertThat(this.service.advised("7")).isEqualTo("guarded");
		assertThat(this.store.lastClaim().key().operation()).isEqualTo("advisedRecover");
	}

	@Test
	void whatRecoverThrowsComesOut() {
		this.store.tombstone(IdempotencyKey.of("recoverThrows", Caller.GLOBAL, "7"));
		assertThatExceptionOfType(UniqueIndexException.class).isThrownBy(() -> this.service.recoverThrows("7"));
	}

	@Test
	void aFalseConditionRunsUnguarded() {
		this.service.conditional("7", false);
		this.service.conditional("7", false);
		assertThat(this.store.claims()).isEmpty();
		this.service.conditional("7", true);
		this.service.conditional("7", true);
		assertThat(Service.runs).hasValue(3);
		assertThatIllegalStateException().isThrownBy(() -> this.service.conditional("7", null))
			.withMessageContaining("It must return true or false");
	}

	@Test
	void anIssuedTokenIsTheKeyOfItsOwner() {
		assertThatExceptionOfType(IdempotencyTokenUnknownException.class).isThrownBy(() -> this.service.token("t"));
		IdempotencyKey token = IdempotencyKey.ofToken(Caller.principal("owner"), "t");
		this.store.issue(token, java.time.Duration.ofMinutes(1));
		assertThat(this.service.token("t")).isEqualTo(1);
		assertThat(this.service.token("t")).isEqualTo(1);
		assertThat(this.store.lastClaim().key()).isEqualTo(token);
		assertThatExceptionOfType(IdempotencyKeyReusedException.class).isThrownBy(() -> this.service.otherToken("t"));
		assertThatIllegalStateException().isThrownBy(() -> this.service.token(List.of("t", "u")))
			.withMessageContaining("single string");
	}

	@Test
	void anotherStoreKeepsTheRecord() {
		assertThat(this.service.inOtherStore("7")).isEqualTo(this.service.inOtherStore("7"));
		assertThat(this.store.claims()).isEmpty();
		assertThat(context.getBean("otherStore", OtherStore.class).claims()).isNotEmpty();
	}

	@Test
	void theContextOfTheCallIsCurrentInIt() {
		this.service.current("7");
		assertThat(Service.seen).isEqualTo("7 current " + this.store.lastFence());
		assertThat(this.store.lastCompletion().retention()).hasMinutes(3);
		assertThat(IdempotencyContext.current()).isEmpty();
	}

	@Test
	void aReleaseThatTheMethodAskedForLetsTheNextRun() {
		this.service.releasing("7");
		this.service.releasing("7");
		assertThat(Service.runs).hasValue(2);
	}

	@Test
	void aNestedCallIsAnOperationOfItsOwn() {
		this.service.nested("7", () -> {
			assertThat(IdempotencyContext.current()).get()
				.extracting(IdempotencyContext::operation)
				.isEqualTo("nested");
			this.service.list("a", "b", 1);
			assertThat(IdempotencyContext.current()).get()
				.extracting(IdempotencyContext::operation)
				.isEqualTo("nested");
		});
		assertThat(Service.runs).hasValue(2);
		assertThat(this.store.claims()).extracting((claim) -> claim.key().operation())
			.containsExactly("nested", "list");
	}

	@Test
	void aNestedCallThatRunsUnguardedHasNoContext() {
		this.service.nested("7", () -> this.service.optionalKey(null));
		assertThat(Service.seen).isEqualTo("none");
		this.service.nested("8", () -> this.service.conditional("7", false));
		assertThat(Service.seen).isEqualTo("none");
	}

	@Test
	void aMethodThatTheBeanCallsOnItselfIsNotSeen() {
		this.service.self("7");
		assertThat(this.store.claims()).isEmpty();
		assertThat(Service.runs).hasValue(1);
	}

	@Test
	void aStoreThatIsDownRejectsTheCall() {
		this.store.goDown();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.service.pay("7", BigDecimal.ONE));
		assertThat(Service.runs).hasValue(0);
	}

	@Test
	void emptyAndFalsyResultsAreResults() {
		for (int i = 0; i < 2; i++) {
			assertThat(this.service.nothing("7")).isNull();
			assertThat(this.service.no("7")).isFalse();
			assertThat(this.service.zero("7")).isZero();
			assertThat(this.service.emptyText("7")).isEmpty();
			assertThat(this.service.absent("7")).isEmpty();
			assertThat(this.service.noOptional("7")).isNull();
			this.service.nothingAtAll("7");
		}
		assertThat(Service.runs).hasValue(7);
	}

	record Receipt(String order, int number) {
	}

	@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
	static class DeclinedException extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	static class UniqueIndexException extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	static class Cyclic {

		public Cyclic getSelf() {
			return this;
		}

	}

	static class OtherStore extends TestStore {

	}

	static class Other {

		@org.springframework.context.annotation.Bean(autowireCandidate = false)
		OtherStore otherStore() {
			return new OtherStore();
		}

	}

	static class Service {

		// Static, because a field of the proxy is another one.
		static final AtomicInteger runs = new AtomicInteger();

		static @Nullable Receipt recoverable;

		static @Nullable String seen;

		@Idempotent("#order")
		public Receipt pay(String order, BigDecimal amount) {
			return new Receipt(order, Service.runs.incrementAndGet());
		}

		@Idempotent(key = "{#user, #p1, #a2}", operation = "list")
		public int list(String user, @Nullable String product, int page) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", required = false)
		public int optionalKey(@Nullable String key) {
			see();
			return Service.runs.incrementAndGet();
		}

		@Idempotent("#key")
		public int anyKey(Object key) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key")
		public int header() {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(body = "/order/id")
		public int body() {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT)
		public int reject(String key) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public int lock(String key, Runnable inside) {
			inside.run();
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK, conflict = ConflictMode.SKIP)
		public void tick(String key, Runnable inside) {
			Service.runs.incrementAndGet();
			inside.run();
		}

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT, conflict = ConflictMode.SKIP)
		public void once(String key) {
			Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT)
		public Object anything(String key) {
			return Service.class;
		}

		@Idempotent(key = "#key", operation = "nested")
		public int nested(String key, Runnable inside) {
			inside.run();
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", conflict = ConflictMode.WAIT, waitTimeout = "50ms")
		public int waiting(String key, Runnable inside) {
			inside.run();
			return Service.runs.incrementAndGet();
		}

		@Idempotent("#key")
		public int failing(String key) {
			throw new IllegalStateException("run " + Service.runs.incrementAndGet());
		}

		@Idempotent(key = "#key", onFailure = FailureMode.REMEMBER)
		public int remembering(String key) {
			throw new IllegalStateException("run " + Service.runs.incrementAndGet());
		}

		@Idempotent(key = "#key", onFailure = FailureMode.REMEMBER)
		public int rememberingNested(String key, Runnable inside) {
			inside.run();
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", onFailure = FailureMode.REMEMBER)
		public int declining(String key) {
			throw new DeclinedException();
		}

		@Idempotent("#key")
		public int checked(String key) throws Exception {
			throw new Exception("checked");
		}

		@Idempotent(key = "#key", scope = "#tenant", operation = "scoped")
		public int scoped(@Nullable String tenant, String key) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", scope = "principal?.name")
		public int scopedByPrincipal(String key) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", scope = "principal")
		public int scopedByObject(String key) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", fingerprint = "#value")
		public int fingerprint(String key, @Nullable Object value) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", fingerprint = "none")
		public int noFingerprint(String key) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", lease = "1500ms", retention = "${test.retention}")
		public int durations(String key) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", duplicateOn = UniqueIndexException.class)
		public int duplicate(String key) {
			Service.runs.incrementAndGet();
			throw new UniqueIndexException();
		}

		@Idempotent(key = "#key", operation = "duplicateWithRecover", duplicateOn = UniqueIndexException.class,
				recover = "findReceipt")
		public Receipt duplicateWithRecover(String key) {
			Service.runs.incrementAndGet();
			if (key.equals("fail")) {
				throw new IllegalStateException("another");
			}
			throw new UniqueIndexException();
		}

		private @Nullable Receipt findReceipt(String key) {
			return Service.recoverable;
		}

		@Idempotent(key = "#key", operation = "recovering", recover = "findNothing", onAbandoned = REJECT)
		public int recovering(String key) {
			return Service.runs.incrementAndGet();
		}

		@Nullable Integer findNothing(String key) {
			return null;
		}

		@Idempotent(key = "#key", operation = "rejecting", onAbandoned = REJECT)
		public int rejecting(String key) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", operation = "recoverVoid", recover = "wasDone")
		public void recoverVoid(String key) {
			Service.runs.incrementAndGet();
		}

		private boolean wasDone(String key) {
			return true;
		}

		@Idempotent(key = "#key", operation = "advised", recover = "advisedRecover")
		public String advised(String key) {
			return "ran";
		}

		@Idempotent(key = "#key", operation = "advisedRecover")
		public String advisedRecover(String key) {
			return IdempotencyContext.current().isPresent() ? "guarded" : "not guarded";
		}

		@Idempotent(key = "#key", operation = "recoverThrows", recover = "throwing")
		public int recoverThrows(String key) {
			return 0;
		}

		private int throwing(String key) {
			throw new UniqueIndexException();
		}

		@Idempotent(key = "#key", condition = "#guarded")
		public int conditional(String key, @Nullable Boolean guarded) {
			see();
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#token", token = true)
		public int token(Object token) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#token", token = true)
		public int otherToken(String token) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", store = "otherStore")
		public int inOtherStore(String key) {
			return Service.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", operation = "current")
		public void current(String key) {
			IdempotencyContext context = IdempotencyContext.current().orElseThrow();
			Service.seen = context.key() + " " + context.operation() + " " + context.fencingToken();
			context.retention(java.time.Duration.ofMinutes(3));
		}

		@Idempotent("#key")
		public int releasing(String key) {
			IdempotencyContext.current().orElseThrow().releaseKey();
			return Service.runs.incrementAndGet();
		}

		public int self(String key) {
			return reject(key);
		}

		@Idempotent("#key")
		public @Nullable String nothing(String key) {
			Service.runs.incrementAndGet();
			return null;
		}

		@Idempotent("#key")
		public boolean no(String key) {
			Service.runs.incrementAndGet();
			return false;
		}

		@Idempotent("#key")
		public int zero(String key) {
			Service.runs.incrementAndGet();
			return 0;
		}

		@Idempotent("#key")
		public String emptyText(String key) {
			Service.runs.incrementAndGet();
			return "";
		}

		@Idempotent("#key")
		public Optional<Receipt> absent(String key) {
			Service.runs.incrementAndGet();
			return Optional.empty();
		}

		@Idempotent("#key")
		public @Nullable Optional<Receipt> noOptional(String key) {
			Service.runs.incrementAndGet();
			return null;
		}

		@Idempotent("#key")
		void nothingAtAll(String key) {
			Service.runs.incrementAndGet();
		}

		private void see() {
			Service.seen = IdempotencyContext.current().map(IdempotencyContext::operation).orElse("none");
		}

	}

}
