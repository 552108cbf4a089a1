package io.idempotency.interceptor;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.store.IdempotencyStore;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Every wrong annotation fails at start-up, with a message that names the method and an
 * action that says what to do.
 */
class StartupFailureTests {

	private static IdempotencyConfigurationException failureOf(Class<?>... beans) {
		Throwable failure = catchThrowable(() -> MethodAdapterSetup.start(beans).close());
		assertThat(failure).as("start-up").isNotNull();
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof IdempotencyConfigurationException found) {
				assertThat(found.action()).isNotBlank();
				return found;
			}
		}
		throw new AssertionError("Not a configuration exception", NestedExceptionUtils.getMostSpecificCause(failure));
	}

	private static void assertRejected(Class<?> bean, String method, String problem, String action) {
		IdempotencyConfigurationException failure = failureOf(bean);
		assertThat(failure).hasMessageStartingWith("@Idempotent on '" + bean.getName() + "#" + method + "': ")
			.hasMessageContaining(problem);
		assertThat(failure.action()).contains(action);
	}

	@Test
	void skippingWithAResult() {
		assertRejected(SkipsResult.class, "run(String)", "conflict = SKIP needs a method that returns void", "REJECT");
		assertRejected(SkipsLater.class, "run(String)", "conflict = SKIP needs a method that returns void", "REJECT");
	}

	static class SkipsResult {

		@Idempotent(key = "#key", conflict = ConflictMode.SKIP)
		public String run(String key) {
			return key;
		}

	}

	static class SkipsLater {

		@Idempotent(key = "#key", conflict = ConflictMode.SKIP)
		public CompletableFuture<Void> run(String key) {
			return CompletableFuture.completedFuture(null);
		}

	}

	@Test
	void moreThanOnePlaceOfTheKey() {
		assertRejected(KeyAndHeader.class, "run(String)", "more than one of key, header and body",
				"Keep only the attribute");
		assertRejected(HeaderAndBody.class, "run(String)", "more than one of key, header and body",
				"Keep only the attribute");
	}

	static class KeyAndHeader {

		@Idempotent(key = "#key", header = "X")
		public void run(String key) {
		}

	}

	static class HeaderAndBody {

		@Idempotent(header = "X", body = "/x")
		public void run(String key) {
		}

	}

	@Test
	void noPlaceOfTheKeyOnAMethodThatIsNoControllers() {
		assertRejected(NoKey.class, "run(String)", "it has no key source", "Set key");
		assertRejected(NoKeyOnClass.class, "run()", "it has no key source", "Set key");
	}

	static class NoKey {

		@Idempotent
		public void run(String key) {
		}

	}

	@Idempotent
	static class NoKeyOnClass {

		public void run() {
		}

	}

	@Test
	void methodsThatMakeABean() {
		assertRejected(MadeHere.class, "made()", "the guard would apply to the creation of the bean",
				"Put the annotation on a method of the bean's class");
	}

	static class MadeHere {

		@Bean
		@Idempotent("'made'")
		Runnable made() {
			return () -> {
			};
		}

	}

	@Test
	void methodsThatAPublicClassInheritsFromAHiddenOne() {
		assertRejected(Visibly.class, "run(String)", "it has no key source", "Set key");
	}

	static class Hidden {

		@Idempotent
		public void run(String key) {
		}

	}

	public static class Visibly extends Hidden {

	}

	@Test
	void unparsableExpressions() {
		assertRejected(BadKey.class, "run(String)", "its key expression '#key.' is not SpEL", "Correct the expression");
		assertRejected(BadScope.class, "run(String)", "its scope expression '(' is not SpEL", "Correct");
		assertRejected(BadFingerprint.class, "run(String)", "its fingerprint expression '#' is not SpEL", "Correct");
		assertRejected(BadCondition.class, "run(String)", "its condition expression '1 >' is not SpEL", "Correct");
		assertRejected(TemplateKey.class, "run(String)", "is not SpEL", "Correct");
	}

	static class BadKey {

		@Idempotent("#key.")
		public void run(String key) {
		}

	}

	static class BadScope {

		@Idempotent(key = "#key", scope = "(")
		public void run(String key) {
		}

	}

	static class BadFingerprint {

		@Idempotent(key = "#key", fingerprint = "#")
		public void run(String key) {
		}

	}

	static class BadCondition {

		@Idempotent(key = "#key", condition = "1 >")
		public void run(String key) {
		}

	}

	static class TemplateKey {

		@Idempotent("#{key}")
		public void run(String key) {
		}

	}

	@Test
	void variablesThatAreNoArguments() {
		assertRejected(UnknownVariable.class, "run(String, int)", "'{#key, #oder.id}' refers to '#oder'",
				"#a0, #a1, #count, #key, #p0, #p1");
		assertRejected(UnknownInProjection.class, "run(List)", "refers to '#prefix'", "#items");
		assertRejected(UnknownFunction.class, "run(String)", "refers to '#hash'", "#key");
		assertRejected(UnknownInScope.class, "run(String)", "its scope expression '#tenant' refers to '#tenant'",
				"#key");
	}

	static class UnknownVariable {

		@Idempotent("{#key, #oder.id}")
		public void run(String key, int count) {
		}

	}

	static class UnknownInProjection {

		@Idempotent("#items.![#prefix + name]")
		public void run(List<String> items) {
		}

	}

	static class UnknownFunction {

		@Idempotent("#hash(#key)")
		public void run(String key) {
		}

	}

	static class UnknownInScope {

		@Idempotent(key = "#key", scope = "#tenant")
		public void run(String key) {
		}

	}

	@Test
	void namesThatTheRootObjectDoesNotHave() {
		assertRejected(ForgottenHash.class, "run(String)", "refers to 'key', which does not exist", "'#key'");
		assertRejected(ForgottenHashInList.class, "run(String)", "refers to 'key', which does not exist", "'#key'");
		assertRejected(ForgottenHashInCall.class, "run(String)", "refers to 'key', which does not exist", "'#key'");
		assertRejected(ForgottenAt.class, "run(String)", "refers to 'tenants', which does not exist", "'@tenants'");
	}

	static class ForgottenHash {

		@Idempotent("key")
		public void run(String key) {
		}

	}

	static class ForgottenHashInList {

		@Idempotent("{#key, key.length()}")
		public void run(String key) {
		}

	}

	static class ForgottenHashInCall {

		@Idempotent("#key.concat(key)")
		public void run(String key) {
		}

	}

	static class ForgottenAt {

		@Idempotent(key = "#key", scope = "tenants('x')")
		public void run(String key) {
		}

	}

	@Test
	void badPointersAndHeaderNames() {
		assertRejected(BadPointer.class, "run()", "its body '/a~2' is not a JSON Pointer", "~0 for ~");
		assertRejected(BadHeader.class, "run()", "its header 'X Key' is not a valid header name",
				"name of a header only");
	}

	@Test
	void pointersWithoutTheirFirstSlash() {
		assertRejected(NoSlash.class, "run()", "its body 'order/id' is neither a JSON Pointer (RFC 6901)",
				"\"/order/id\"");
		assertRejected(NoSlashInKey.class, "run()", "'order/id' is neither a JSON Pointer (RFC 6901)", "\"/order/id\"");
		assertRejected(BadPointerInKey.class, "run()", "'/a~2' is not a JSON Pointer", "~0 for ~");
	}

	@Test
	void argumentsThatCannotBeComparedWhereAClientChoosesTheKey() {
		assertRejected(Upload.class, "run(String, InputStream)",
				"its key comes from the client, so its arguments are compared, but the parameter 'content' cannot be: "
						+ "'java.io.InputStream' cannot be written as JSON: it can be read only once",
				"Set fingerprint to the values that must be equal on a retry, e.g. fingerprint = \"{#name}\"");
		assertRejected(Callback.class, "run(Runnable)", "the parameter 'work' cannot be",
				"Set fingerprint to the values that must be equal on a retry, or set fingerprint = \"none\" to compare nothing");
		assertThat(MethodAdapterSetup.start(UploadWithKey.class, UploadWithFingerprint.class).isActive()).isTrue();
	}

	static class Upload {

		@Idempotent(header = "X")
		public void run(String name, java.io.InputStream content) {
		}

	}

	static class Callback {

		@Idempotent(body = "/key")
		public void run(Runnable work) {
		}

	}

	static class UploadWithKey {

		@Idempotent("#name")
		public void run(String name, java.io.InputStream content) {
		}

	}

	static class UploadWithFingerprint {

		@Idempotent(header = "X", fingerprint = "#name")
		public void run(String name, java.io.InputStream content) {
		}

		@Idempotent(header = "X", mode = IdempotencyMode.REJECT)
		public void once(java.io.InputStream content) {
		}

	}

	static class NoSlash {

		@Idempotent(body = "order/id")
		public void run() {
		}

	}

	static class NoSlashInKey {

		@Idempotent("{header('X'), body('order/id')}")
		public void run() {
		}

	}

	static class BadPointerInKey {

		@Idempotent("body('/a~2')")
		public void run() {
		}

	}

	@Test
	void valueAndKeyThatDiffer() {
		assertRejected(ValueAndKey.class, "run(String)", "value", "Remove value or key");
		assertThat(failureOf(ValueAndKeyFactory.class))
			.hasMessageStartingWith("@Idempotent on '" + ValueAndKeyOnClass.class.getName() + "#run(String)'");
	}

	static class ValueAndKey {

		@Idempotent(value = "#key", key = "#other")
		public void run(String key) {
		}

	}

	@Idempotent(value = "#key", key = "#other")
	static class ValueAndKeyOnClass {

		public void run(String key) {
		}

	}

	/** A class that is scanned is rejected by Spring, for it reads its annotations. */
	static class ValueAndKeyFactory {

		@Bean
		static ValueAndKeyOnClass valueAndKeyOnClass() {
			return new ValueAndKeyOnClass();
		}

	}

	@Test
	void variablesOfAMethodWithoutArguments() {
		assertRejected(NoArguments.class, "run()", "refers to '#key', which is not an argument of the method",
				"The method has no arguments");
	}

	static class NoArguments {

		@Idempotent("#key")
		public void run() {
		}

	}

	static class BadPointer {

		@Idempotent(body = "/a~2")
		public void run() {
		}

	}

	static class BadHeader {

		@Idempotent(header = "X Key")
		public void run() {
		}

	}

	@Test
	void durationsThatAreNone() {
		assertRejected(BadRetention.class, "run(String)", "its retention is '30': it is not a duration", "30s");
		assertRejected(BadLease.class, "run(String)", "its lease is '0s': it must be positive", "30s");
		assertRejected(BadWait.class, "run(String)", "its waitTimeout is '-PT1S': it must be positive", "30s");
		assertRejected(BadPlaceholder.class, "run(String)", "its retention is '${not.there}'", "${placeholder}");
		assertRejected(PlaceholderOfNothing.class, "run(String)",
				"its lease is '${not.there:soon}' ('soon'): it is not a duration", "30s");
	}

	static class BadRetention {

		@Idempotent(key = "#key", retention = "30")
		public void run(String key) {
		}

	}

	static class BadLease {

		@Idempotent(key = "#key", lease = "0s")
		public void run(String key) {
		}

	}

	static class BadWait {

		@Idempotent(key = "#key", waitTimeout = "-PT1S")
		public void run(String key) {
		}

	}

	static class BadPlaceholder {

		@Idempotent(key = "#key", retention = "${not.there}")
		public void run(String key) {
		}

	}

	static class PlaceholderOfNothing {

		@Idempotent(key = "#key", lease = "${not.there:soon}")
		public void run(String key) {
		}

	}

	@Test
	void recoverMethodsThatDoNotFit() {
		assertRejected(NoRecover.class, "run(String)", "its recover method 'find' does not exist",
				"Add a method 'find' with the same parameters to class " + NoRecover.class.getName());
		assertRejected(RecoverOfOtherParameters.class, "run(String)",
				"its recover method 'find' does not exist with these parameters, but there is "
						+ RecoverOfOtherParameters.class.getName() + "#find(Object)",
				"same parameters");
		assertRejected(RecoverItself.class, "run(String)", "its recover method 'run' does not exist", "Add a method");
		assertRejected(RecoverOfVoid.class, "run(String)", "its recover method 'find' returns void",
				"Change its return type to java.lang.String");
		assertRejected(RecoverOfOtherType.class, "run(String)",
				"its recover method 'find' returns java.util.List<java.lang.Integer>",
				"Change its return type to java.util.List<java.lang.String>");
		assertRejected(RecoverOfFuture.class, "run(String)", "its recover method 'find' returns", "java.lang.String");
	}

	static class NoRecover {

		@Idempotent(key = "#key", recover = "find")
		public String run(String key) {
			return key;
		}

	}

	static class RecoverOfOtherParameters {

		@Idempotent(key = "#key", recover = "find")
		public String run(String key) {
			return key;
		}

		public String find(Object key) {
			return "";
		}

	}

	static class RecoverItself {

		@Idempotent(key = "#key", recover = "run")
		public String run(String key) {
			return key;
		}

	}

	static class RecoverOfVoid {

		@Idempotent(key = "#key", recover = "find")
		public String run(String key) {
			return key;
		}

		public void find(String key) {
		}

	}

	static class RecoverOfOtherType {

		@Idempotent(key = "#key", recover = "find")
		public List<String> run(String key) {
			return List.of(key);
		}

		public List<Integer> find(String key) {
			return List.of();
		}

	}

	static class RecoverOfFuture {

		@Idempotent(key = "#key", recover = "find")
		public String run(String key) {
			return key;
		}

		public CompletableFuture<String> find(String key) {
			return CompletableFuture.completedFuture("");
		}

	}

	@Test
	void storesThatAreNone() {
		assertRejected(NoStore.class, "run(String)", "its store 'elsewhere' is not a bean of type IdempotencyStore",
				"testStore");
		assertRejected(NotAStore.class, "run(String)", "its store 'engine' is not a bean of type IdempotencyStore",
				"testStore");
	}

	static class NoStore {

		@Idempotent(key = "#key", store = "elsewhere")
		public void run(String key) {
		}

	}

	static class NotAStore {

		@Idempotent(key = "#key", store = "engine")
		public void run(String key) {
		}

	}

	@Test
	void joinWithoutATransactionToJoin() {
		assertRejected(Join.class, "run(String)",
				"transaction = JOIN, but its store '" + TestStore.class.getName() + "' does not support transactions",
				"Use the JDBC store");
	}

	@Test
	void joinOfATransactionApart() {
		assertRejected(ApartJoin.class, "run(String)", "starts a separate transaction", "REQUIRED");
		assertRejected(LateJoin.class, "run(String)", "after the transaction ends", "BEFORE_COMMIT");
	}

	@Test
	void lockOfWorkWhoseEndCannotBeSeen() {
		assertRejected(StreamLock.class, "run(String)", "its end cannot be observed", "CompletableFuture");
	}

	@Test
	void joinWithoutATransactionManager() {
		assertRejected(JoinWithoutTransactions.class, "run(String)", "the transaction manager is missing or ambiguous",
				"@Primary");
	}

	@Test
	void joinOfAnAsynchronousMethod() {
		assertRejected(AsyncJoin.class, "run(String)", "its work continues after the method returns", "SEPARATE");
	}

	@Test
	void joinWithAStoreThatCanJoinIsAccepted() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(JoinWithStore.class)) {
			IdempotentOperation operation = context.getBean(IdempotentOperationSource.class)
				.operation(JoinWithStore.class.getMethods()[0], JoinWithStore.class);
			assertThat(context.getBean(JoinWithStore.class)).isNotNull();
			assertThat(operation).isNotNull();
			assertThat(operation.place().transactions()).isNotNull();
		}
	}

	static class Join {

		@Idempotent(key = "#key", transaction = TransactionMode.JOIN)
		public void run(String key) {
		}

	}

	static class AsyncJoin {

		@Idempotent(key = "#key", transaction = TransactionMode.JOIN, store = "joining")
		public CompletableFuture<String> run(String key) {
			return CompletableFuture.completedFuture(key);
		}

		@Bean(autowireCandidate = false)
		static TestStore joining() {
			return new JoiningStore();
		}

	}

	static class JoinWithStore {

		@Idempotent(key = "#key", transaction = TransactionMode.JOIN, store = "joining")
		public void run(String key) {
		}

		@Bean(autowireCandidate = false)
		static TestStore joining() {
			return new JoiningStore();
		}

		@Bean
		static PlatformTransactionManager transactionManager() {
			return JoiningStore.transactionManager();
		}

	}

	static class ApartJoin {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@Idempotent(key = "#key", transaction = TransactionMode.JOIN, store = "joining")
		public void run(String key) {
		}

		@Bean(autowireCandidate = false)
		static TestStore joining() {
			return new JoiningStore();
		}

	}

	static class LateJoin {

		@TransactionalEventListener
		@Idempotent(key = "#key", transaction = TransactionMode.JOIN, store = "joining")
		public void run(String key) {
		}

		@Bean(autowireCandidate = false)
		static TestStore joining() {
			return new JoiningStore();
		}

	}

	static class StreamLock {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public Flow.Publisher<String> run(String key) {
			return (subscriber) -> subscriber.onComplete();
		}

	}

	static class JoinWithoutTransactions {

		@Idempotent(key = "#key", transaction = TransactionMode.JOIN, store = "joining")
		public void run(String key) {
		}

		@Bean(autowireCandidate = false)
		static TestStore joining() {
			return new JoiningStore();
		}

	}

	static class JoiningStore extends TestStore {

		static PlatformTransactionManager transactionManager() {
			JdbcDataSource dataSource = new JdbcDataSource();
			dataSource.setURL("jdbc:h2:mem:");
			return new JdbcTransactionManager(dataSource);
		}

		@Override
		public Optional<IdempotencyStore> joining() {
			return Optional.of(this);
		}

	}

	@Test
	void methodsThatNoProxyCanGuard() {
		assertRejected(PrivateMethod.class, "run(String)", "a proxy cannot guard a private method", "non-private");
		assertRejected(StaticMethod.class, "run(String)", "a proxy cannot guard a static method", "instance method");
		assertRejected(FinalMethod.class, "run(String)", "a proxy cannot guard a final method", "Remove final");
		assertRejected(FinalClass.class, "run(String)", "a proxy cannot guard a method of a final class",
				"Remove final");
		assertRejected(FinalMethodOfGuardedClass.class, "run(String)", "a proxy cannot guard a final method",
				"Remove final");
		assertRejected(FinalMethodOfInterface.class, "run(String)", "a proxy cannot guard a final method",
				"Remove final");
	}

	static class PrivateMethod {

		@Idempotent("#key")
		private void run(String key) {
		}

		void call() {
			run("");
		}

	}

	static class StaticMethod {

		@Idempotent("#key")
		public static void run(String key) {
		}

	}

	static class FinalMethod {

		@Idempotent("#key")
		public final void run(String key) {
		}

	}

	static final class FinalClass {

		@Idempotent("#key")
		public void run(String key) {
		}

	}

	@Idempotent("#key")
	static class FinalMethodOfGuardedClass {

		public final void run(String key) {
		}

	}

	interface GuardedInterface {

		@Idempotent("#key")
		void run(String key);

	}

	static class FinalMethodOfInterface implements GuardedInterface {

		@Override
		public final void run(String key) {
		}

	}

	@Test
	void packagePrivateAndProtectedMethodsAreGuarded() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Visible.class)) {
			context.getBean(Visible.class).packagePrivate("7");
			context.getBean(Visible.class).protectedMethod("8");
			assertThat(context.getBean(TestStore.class).claims()).hasSize(2);
		}
	}

	static class Visible {

		@Idempotent("#key")
		void packagePrivate(String key) {
		}

		@Idempotent("#key")
		protected void protectedMethod(String key) {
		}

	}

	@Test
	void attributesThatContradictEachOther() {
		assertRejected(WaitAndReject.class, "run(String)", "conflict = WAIT contradicts mode = REJECT",
				"Remove conflict");
		assertRejected(TimeoutWithoutWait.class, "run(String)",
				"it has a waitTimeout, but conflict = REJECT never waits", "Remove one");
		assertRejected(FingerprintAndReject.class, "run(String)",
				"it has a fingerprint, but mode = REJECT compares nothing", "Remove fingerprint");
		assertRejected(FingerprintAndLock.class, "run(String)",
				"it has a fingerprint, but mode = LOCK compares nothing", "Remove fingerprint");
		assertRejected(RememberAndLock.class, "run(String)", "onFailure = REMEMBER contradicts mode = LOCK",
				"Remove onFailure");
		assertRejected(RecoverAndReject.class, "run(String)", "recover is never called", "set duplicateOn");
		assertRejected(UnkeptAndReject.class, "run(String)",
				"it has keepResult = false, but mode = REJECT never stores a result", "Remove keepResult");
		assertRejected(UnkeptAndLock.class, "run(String)",
				"it has keepResult = false, but mode = LOCK never stores a result", "Remove keepResult");
		assertRejected(UnkeptAndRemember.class, "run(String)", "keepResult = false contradicts onFailure = REMEMBER",
				"Remove one");
	}

	static class WaitAndReject {

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT, conflict = ConflictMode.WAIT)
		public void run(String key) {
		}

	}

	static class TimeoutWithoutWait {

		@Idempotent(key = "#key", conflict = ConflictMode.REJECT, waitTimeout = "1s")
		public void run(String key) {
		}

	}

	static class FingerprintAndReject {

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT, fingerprint = "#key")
		public void run(String key) {
		}

	}

	static class FingerprintAndLock {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK, fingerprint = "#key")
		public void run(String key) {
		}

	}

	static class RememberAndLock {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK, onFailure = FailureMode.REMEMBER)
		public void run(String key) {
		}

	}

	static class UnkeptAndReject {

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT, keepResult = false)
		public void run(String key) {
		}

	}

	static class UnkeptAndLock {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK, keepResult = false)
		public void run(String key) {
		}

	}

	static class UnkeptAndRemember {

		@Idempotent(key = "#key", keepResult = false, onFailure = FailureMode.REMEMBER)
		public void run(String key) {
		}

	}

	static class RecoverAndReject {

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT, recover = "find")
		public String run(String key) {
			return key;
		}

		String find(String key) {
			return key;
		}

	}

	@Test
	void combinationsThatMakeSenseAreAccepted() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Sensible.class)) {
			assertThat(context.getBean(Sensible.class).once("7")).isEqualTo("7");
		}
	}

	static class Sensible {

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT, fingerprint = "none",
				duplicateOn = IllegalStateException.class, recover = "find")
		public String once(String key) {
			return key;
		}

		@Idempotent(key = "#key", keepResult = false)
		public Object unkept(String key) {
			return key;
		}

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK, conflict = ConflictMode.WAIT, waitTimeout = "1s")
		public void waitAndLock(String key) {
		}

		String find(String key) {
			return key;
		}

	}

	@Test
	void resultsThatCannotBeKept() {
		assertRejected(ObjectResult.class, "run(String)",
				"its result cannot be stored for a replay: 'java.lang.Object' cannot be stored: it does not describe "
						+ "its values",
				"keepResult = false or mode = IdempotencyMode.REJECT");
		assertRejected(MapResult.class, "run(String)", "'java.lang.Object' cannot be stored", "REJECT");
		assertRejected(FutureOfWildcard.class, "run(String)", "cannot be stored", "REJECT");
		assertRejected(UnresolvedResult.class, "run(String)", "'T' cannot be stored", "REJECT");
	}

	static class ObjectResult {

		@Idempotent("#key")
		public Object run(String key) {
			return key;
		}

	}

	static class MapResult {

		@Idempotent("#key")
		public Map<String, Object> run(String key) {
			return Map.of();
		}

	}

	static class FutureOfWildcard {

		@Idempotent("#key")
		public CompletableFuture<?> run(String key) {
			return CompletableFuture.completedFuture(key);
		}

	}

	static class UnresolvedResult<T> {

		@Idempotent("#key")
		public T run(String key) {
			throw new IllegalStateException(key);
		}

	}

	@Test
	void aCallWithoutADoorIsAnErrorThatSaysWhatToDeclare() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Visible.class)) {
			((org.springframework.beans.factory.support.DefaultListableBeanFactory) context.getBeanFactory())
				.removeBeanDefinition("methodAdapter");
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(Visible.class).packagePrivate("7"))
				.withMessageContaining("Visible#packagePrivate(String)")
				.withMessageContaining("MethodAdapter");
		}
	}

	@Test
	void tokenOfAnotherScopeOrStore() {
		assertRejected(TokenAndScope.class, "run(String)", "token contradicts scope", "Remove scope");
		assertRejected(TokenAndStore.class, "run(String)", "token contradicts store", "Remove store");
	}

	static class TokenAndScope {

		@Idempotent(key = "#key", token = true, scope = "#key")
		public void run(String key) {
		}

	}

	static class TokenAndStore {

		@Idempotent(key = "#key", token = true, store = "store")
		public void run(String key) {
		}

	}

}
