package io.idempotency.engine;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.codec.AesGcmResultCipher;
import io.idempotency.codec.ResultCipher;
import io.idempotency.codec.ResultEncryption;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** What stores are given and what is believed of them, where results are encrypted. */
class ResultSealerTests {

	private static final String SECRET = "PIN-1234";

	private final ResultCipher cipher = aes("k1", 1);

	private final EngineFixture node = new EngineFixture(new ResultEncryption(this.cipher, false));

	private final TestPolicy policy = TestPolicy.replay();

	private final List<IdempotencyEngine> others = new ArrayList<>();

	@AfterEach
	void close() {
		this.others.forEach(IdempotencyEngine::close);
		this.node.close();
	}

	@Test
	void storeIsGivenNothingOfTheResultAndItsDuplicateAllOfIt() throws Throwable {
		this.node.execute(this.policy, TestAction.returning(SECRET));
		assertEncrypted(stored(this.node.memory, EngineFixture.KEY));
		TestAction<String> duplicate = TestAction.returning("two");
		assertThat(this.node.execute(this.policy, duplicate)).isEqualTo(SECRET);
		assertThat(duplicate.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED);
		assertThat(this.node.log.events()).isEmpty();
	}

	@Test
	void emptyAndLargeResultsAreGivenBack() throws Throwable {
		for (String value : List.of("", "x".repeat(1_000_000))) {
			IdempotencyKey key = key("of " + value.length());
			execute(this.node.engine, key, TestAction.returning(value));
			assertThat(execute(this.node.engine, key, TestAction.returning("two"))).isEqualTo(value);
		}
	}

	/** Its stored form has no bytes. */
	@Test
	void nothingIsGivenBackAsNothing() throws Throwable {
		this.node.execute(this.policy, TestAction.returning((String) null));
		assertEncrypted(stored(this.node.memory, EngineFixture.KEY));
		TestAction<String> duplicate = TestAction.returning("two");
		assertThat(this.node.execute(this.policy, duplicate)).isNull();
		assertThat(duplicate.runs()).isZero();
	}

	@Test
	void futureIsEncrypted() throws Throwable {
		TestAction<CompletableFuture<String>> first = TestAction.async(() -> CompletableFuture.completedFuture(SECRET));
		this.node.execute(this.policy, first).join();
		assertEncrypted(stored(this.node.memory, EngineFixture.KEY));
		assertThat(this.node.execute(this.policy, first).join()).isEqualTo(SECRET);
		assertThat(first.runs()).isEqualTo(1);
	}

	@Test
	void rememberedFailureIsEncrypted() {
		TestPolicy remembering = this.policy.remembering();
		assertThatIllegalStateException()
			.isThrownBy(() -> this.node.execute(remembering, TestAction.throwing(new IllegalStateException(SECRET))));
		assertEncrypted(stored(this.node.memory, EngineFixture.KEY));
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.node.execute(remembering, TestAction.returning("two")))
			.withMessageContaining(SECRET);
	}

	@Test
	void resultThatWasLookedUpForADeadOwnerIsEncrypted() throws Throwable {
		this.node.claimElsewhere(this.policy);
		this.node.clock.advance(Duration.ofMinutes(1));
		TestAction<String> successor = TestAction.returning("two").recovering(() -> SECRET);
		assertThat(this.node.execute(this.policy.recoverable(), successor)).isEqualTo(SECRET);
		assertEncrypted(stored(this.node.memory, EngineFixture.KEY));
	}

	@Test
	void resultThatCommitsWithItsTransactionIsEncrypted() throws Throwable {
		GuardedCall call = call(EngineFixture.KEY, this.node.store);
		TransactionStarter transactions = new TestTransactions();
		this.node.engine.execute(call, TestAction.returning(SECRET), transactions);
		assertEncrypted(stored(this.node.memory, EngineFixture.KEY));
		assertThat(this.node.engine.execute(call, TestAction.returning("two"), transactions)).isEqualTo(SECRET);
	}

	@Test
	void completionThatIsRepeatedIsEncrypted() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 1);
		this.node.execute(this.policy, TestAction.returning(SECRET));
		await().untilAsserted(
				() -> assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class));
		assertEncrypted(stored(this.node.memory, EngineFixture.KEY));
	}

	@ParameterizedTest
	@MethodSource
	void resultThatCannotBeDecryptedIsLookedUpOrRejectedAndNeverRuns(Consumer<ResultSealerTests> damage)
			throws Throwable {
		this.node.execute(this.policy, TestAction.returning(SECRET));
		damage.accept(this);
		TestAction<String> duplicate = TestAction.returning("two").recovering(() -> "found");
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
				.isThrownBy(() -> this.node.execute(this.policy, duplicate));
		}
		assertThat(duplicate.recoveries()).isZero();
		assertThat(this.node.execute(this.policy.recoverable(), duplicate)).isEqualTo("found");
		assertThat(duplicate.runs()).isZero();
		assertThat(this.node.store.count(Verb.RELEASE)).isZero();
		assertThat(this.node.events.count(IdempotencyEvent.RESULT_UNAVAILABLE)).isEqualTo(3);
		assertThat(this.node.log.messages(Level.WARN)).singleElement()
			.asString()
			.contains(TestPolicy.OPERATION)
			.doesNotContain(SECRET);
	}

	static Stream<Consumer<ResultSealerTests>> resultThatCannotBeDecryptedIsLookedUpOrRejectedAndNeverRuns() {
		return Stream.of((test) -> test.replaceBy(test.ofAnotherRecord()),
				(test) -> test.replaceBy(test.encryptedBy(aes("k2", 1))),
				(test) -> test.replaceBy(test.encryptedBy(aes("k1", 2))),
				(test) -> test.replaceBy(new StoredResult("idempotency.encrypted1", new byte[0])),
				(test) -> test.replaceBy(new StoredResult("idempotency.encrypted1", new byte[100])),
				(test) -> test.replaceBy(new StoredResult("text", test.ofThisRecord().bytes())),
				(test) -> test.replaceBy(new StoredResult("idempotency.encrypted2", test.ofThisRecord().bytes())),
				(test) -> test.replaceBy(EngineFixture.text(SECRET)),
				(test) -> test.replaceBy(test.ofThisRecord(), (bytes) -> bytes[bytes.length - 1]++),
				(test) -> test.replaceBy(test.ofThisRecord(), (bytes) -> bytes[10]++));
	}

	@Test
	void resultOfAnotherRecordIsReadByNobody() throws Throwable {
		IdempotencyKey mine = key("mine");
		IdempotencyKey yours = key("yours");
		execute(this.node.engine, mine, TestAction.returning("my " + SECRET));
		execute(this.node.engine, yours, TestAction.returning("your " + SECRET));
		StoredResult moved = stored(this.node.memory, mine);
		replace(yours, moved);
		TestAction<String> duplicate = TestAction.returning("two");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> execute(this.node.engine, yours, duplicate));
		replace(mine, moved);
		assertThat(execute(this.node.engine, mine, duplicate)).isEqualTo("my " + SECRET);
		assertThat(duplicate.runs()).isZero();
	}

	@Test
	void resultsOfBeforeAreReadWhileThatIsWanted() throws Throwable {
		replaceBy(EngineFixture.text("plain"));
		IdempotencyEngine reading = engine(new ResultEncryption(this.cipher, true));
		assertThat(execute(reading, EngineFixture.KEY, TestAction.returning("two"))).isEqualTo("plain");
		execute(reading, key("new"), TestAction.returning(SECRET));
		assertEncrypted(stored(this.node.memory, key("new")));
	}

	@Test
	void encryptedResultIsNotReadWithoutACipherWhateverTheCodecWouldMakeOfIt() throws Throwable {
		this.node.execute(this.policy, TestAction.returning(SECRET));
		IdempotencyEngine plain = engine(null);
		CarelessApplication application = new CarelessApplication(plain, this.node.store);
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> application.execute(EngineFixture.KEY.value()));
		assertThat(application.runs).hasValue(0);
		assertThat(this.node.log.messages(Level.WARN)).singleElement().asString().contains("no encryption key");
	}

	@Test
	void newKeyEncryptsAndOldOnesDecrypt() throws Throwable {
		this.node.execute(this.policy, TestAction.returning("old"));
		ResultCipher both = new AesGcmResultCipher("k2", Map.of("k1", material(1), "k2", material(2)));
		IdempotencyEngine next = engine(new ResultEncryption(both, false));
		assertThat(execute(next, EngineFixture.KEY, TestAction.returning("two"))).isEqualTo("old");
		execute(next, key("new"), TestAction.returning(SECRET));
		assertThat(execute(engine(new ResultEncryption(aes("k2", 2), false)), key("new"), TestAction.returning("two")))
			.isEqualTo(SECRET);
	}

	@ParameterizedTest
	@MethodSource
	void resultThatCannotBeEncryptedIsCompletionWithoutResult(BrokenCipher broken) throws Throwable {
		IdempotencyEngine engine = engine(new ResultEncryption(broken, false));
		for (String key : List.of("a", "b", "c")) {
			assertThat(execute(engine, key(key), TestAction.returning(SECRET))).isEqualTo(SECRET);
			TestAction<String> duplicate = TestAction.returning("two");
			assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
				.isThrownBy(() -> execute(engine, key(key), duplicate));
			assertThat(duplicate.runs()).isZero();
		}
		assertThat(this.node.store.count(Verb.RELEASE)).isZero();
		assertThat(this.node.events.count(IdempotencyEvent.RESULT_NOT_STORED)).isEqualTo(3);
		assertThat(this.node.log.messages(Level.WARN)).singleElement().asString().contains("could not be encrypted");
	}

	static Stream<BrokenCipher> resultThatCannotBeEncryptedIsCompletionWithoutResult() {
		return Stream.of(() -> {
			throw new IllegalStateException("no key today");
		}, () -> {
			throw new NoClassDefFoundError("Kms");
		}, () -> null);
	}

	@ParameterizedTest
	@MethodSource
	void cipherThatFailsToDecryptIsNoFailureOfTheCall(BrokenCipher broken) throws Throwable {
		this.node.execute(this.policy, TestAction.returning(SECRET));
		IdempotencyEngine engine = engine(new ResultEncryption(broken, false));
		TestAction<String> duplicate = TestAction.returning("two");
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
				.isThrownBy(() -> execute(engine, EngineFixture.KEY, duplicate));
		}
		assertThat(duplicate.runs()).isZero();
		assertThat(this.node.log.messages(Level.WARN)).hasSize(1);
	}

	static Stream<BrokenCipher> cipherThatFailsToDecryptIsNoFailureOfTheCall() {
		return Stream.of(() -> {
			throw new IllegalStateException("no key today");
		}, () -> {
			throw BrokenCipher.<RuntimeException>unchecked(new Exception("a checked one"));
		}, () -> {
			throw new NoClassDefFoundError("Kms");
		}, () -> {
			throw new ServiceConfigurationError("Kms");
		}, () -> null, () -> new byte[0], () -> new byte[] { 9, 1 }, () -> new byte[] { 0, 1 },
				() -> new byte[] { (byte) 200, 1 });
	}

	@Test
	void whatIsNotKeptIsNotEncryptedEither() throws Throwable {
		AtomicInteger asked = new AtomicInteger();
		BrokenCipher counting = () -> {
			asked.incrementAndGet();
			throw new IllegalStateException("asked");
		};
		IdempotencyEngine engine = engine(new ResultEncryption(counting, false));
		for (TestPolicy keepsNothing : List.of(TestPolicy.replay().unkept(), TestPolicy.mode(IdempotencyMode.LOCK),
				TestPolicy.mode(IdempotencyMode.REJECT))) {
			IdempotencyKey key = key(keepsNothing.build().toString());
			engine.execute(new GuardedCall(key, Fingerprint.NONE, keepsNothing.build(), this.node.store),
					TestAction.returning(SECRET));
		}
		assertThat(asked).hasValue(0);
		assertThat(this.node.log.events()).isEmpty();
	}

	@Test
	void engineSaysWhetherItEncrypts() {
		assertThat(this.node.engine.encryptsResults()).isTrue();
		assertThat(engine(null).encryptsResults()).isFalse();
	}

	private static void assertEncrypted(StoredResult stored) {
		assertThat(stored.format()).isEqualTo("idempotency.encrypted1");
		assertThat(new String(stored.bytes(), StandardCharsets.ISO_8859_1)).doesNotContain("PIN")
			.doesNotContain("1234")
			.doesNotContain("text")
			.doesNotContain("failure");
	}

	private StoredResult ofThisRecord() {
		return stored(this.node.memory, EngineFixture.KEY);
	}

	private StoredResult ofAnotherRecord() {
		execute(this.node.engine, key("another"), TestAction.returning(SECRET));
		StoredResult stored = stored(this.node.memory, key("another"));
		this.node.store.forget();
		this.node.events.clear();
		return stored;
	}

	private StoredResult encryptedBy(ResultCipher other) {
		execute(engine(new ResultEncryption(other, false)), key("elsewhere"), TestAction.returning(SECRET));
		return stored(this.node.memory, key("elsewhere"));
	}

	private void replaceBy(StoredResult stored, Consumer<byte[]> change) {
		byte[] bytes = stored.bytes().clone();
		change.accept(bytes);
		replaceBy(new StoredResult(stored.format(), bytes));
	}

	private void replaceBy(StoredResult stored) {
		replace(EngineFixture.KEY, stored);
		this.node.events.clear();
	}

	/** As somebody could who may write to the store. */
	private void replace(IdempotencyKey key, StoredResult stored) {
		this.node.clock.advance(Duration.ofHours(25));
		ClaimResult.Acquired acquired = (ClaimResult.Acquired) ask(this.node.memory, key);
		this.node.memory.complete(Completion.result(acquired.claim(), Fingerprint.NONE, stored, Duration.ofHours(24)));
	}

	private static StoredResult stored(IdempotencyStore store, IdempotencyKey key) {
		return ((ClaimResult.Completed) ask(store, key)).result();
	}

	private static ClaimResult ask(IdempotencyStore store, IdempotencyKey key) {
		return store.claim(ClaimRequest.of(key, Duration.ofSeconds(30), Duration.ofHours(24)));
	}

	private IdempotencyEngine engine(@Nullable ResultEncryption encryption) {
		IdempotencyEngine engine = new IdempotencyEngine(10, DetachedCalls.Limits.DEFAULTS, this.node.events,
				this.node.ticker, () -> null, encryption, EngineObserver.NONE);
		this.others.add(engine);
		return engine;
	}

	private @Nullable String execute(IdempotencyEngine engine, IdempotencyKey key, TestAction<String> action) {
		try {
			return engine.execute(call(key, this.node.store), action);
		}
		catch (RuntimeException | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	private GuardedCall call(IdempotencyKey key, IdempotencyStore store) {
		return new GuardedCall(key, Fingerprint.NONE, this.policy.build(), store);
	}

	private static IdempotencyKey key(String value) {
		return IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, value);
	}

	private static AesGcmResultCipher aes(String id, int seed) {
		return new AesGcmResultCipher(id, Map.of(id, material(seed)));
	}

	private static byte[] material(int seed) {
		byte[] key = new byte[32];
		Arrays.fill(key, (byte) seed);
		return key;
	}

	/** Gives what a cipher should not, or throws. */
	@FunctionalInterface
	interface BrokenCipher extends ResultCipher {

		byte @Nullable [] give();

		@Override
		@SuppressWarnings("NullAway")
		default byte[] encrypt(byte[] plain, byte[] context) {
			return give();
		}

		@Override
		@SuppressWarnings("NullAway")
		default byte[] decrypt(byte[] encrypted, byte[] context) {
			return give();
		}

		@SuppressWarnings("unchecked")
		static <X extends Throwable> X unchecked(Throwable ex) throws X {
			throw (X) ex;
		}

	}

	/** The call of an application whose codec takes every format for its own. */
	private static final class CarelessApplication {

		private final AtomicInteger runs = new AtomicInteger();

		private final DefaultIdempotencyTemplate template;

		CarelessApplication(IdempotencyEngine engine, IdempotencyStore store) {
			this.template = new DefaultIdempotencyTemplate(engine, store, new TextCodec() {

				@Override
				public Object decode(StoredResult result, Type type) {
					return Base64.getEncoder().encodeToString(result.bytes());
				}

			}, IdempotencyOptions.DEFAULTS);
		}

		@Nullable String execute(String key) {
			return this.template.operation(TestPolicy.OPERATION).key(key).execute(String.class, () -> {
				this.runs.incrementAndGet();
				return "two";
			});
		}

	}

}
