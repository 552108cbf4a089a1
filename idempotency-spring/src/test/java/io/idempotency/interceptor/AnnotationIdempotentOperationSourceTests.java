package io.idempotency.interceptor;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.Idempotent;
import io.idempotency.StoreFailureMode;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.OperationTraits.Flag;
import jakarta.annotation.PostConstruct;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.core.annotation.AliasFor;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.SimpleTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** How an annotation is found, and what becomes of it. */
class AnnotationIdempotentOperationSourceTests {

	private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private final IdempotentOperationSource source = source(IdempotencyOptions.DEFAULTS);

	private IdempotentOperationSource source(IdempotencyOptions defaults) {
		return new AnnotationIdempotentOperationSource(this.beanFactory, defaults, "Idempotency-Key", new TestStore(),
				new Jackson2ResultCodec(), this.beanFactory.getBeanProvider(InvocationAdapter.class));
	}

	private @Nullable IdempotentOperation find(Class<?> type, String method) {
		return find(type, type, method);
	}

	private @Nullable IdempotentOperation find(Class<?> declaring, Class<?> type, String name) {
		for (Method method : declaring.getDeclaredMethods()) {
			if (method.getName().equals(name) && !method.isBridge()) {
				return this.source.operation(method, type);
			}
		}
		Method inherited = ReflectionUtils.findMethod(declaring, name, (Class<?>[]) null);
		assertThat(inherited).as(name).isNotNull();
		return this.source.operation(inherited, type);
	}

	private IdempotentOperation operation(Class<?> type, String method) {
		IdempotentOperation operation = find(type, method);
		assertThat(operation).as(method).isNotNull();
		return operation;
	}

	@Test
	void hitsAndMissesAreFoundOnce() {
		assertThat(find(Annotated.class, "own")).isNotNull().isSameAs(find(Annotated.class, "own"));
		assertThat(find(Unannotated.class, "run")).isNull();
		assertThat(find(Unannotated.class, "run")).isNull();
	}

	@Test
	void theMethodsAnnotationWinsOverTheClasss() {
		assertThat(operation(Annotated.class, "own").name()).isEqualTo("own");
		assertThat(operation(Annotated.class, "own").guarded().declaredOnMethod()).isTrue();
		IdempotentOperation common = operation(Annotated.class, "common");
		assertThat(common.guarded().declaredOnMethod()).isFalse();
		assertThat(common.name()).isEqualTo(Annotated.class.getName() + ".common(java.lang.String)");
	}

	@Test
	void aClasssAnnotationMeansItsPublicMethodsThatDoItsWork() {
		for (String other : List.of("packagePrivate", "protectedMethod", "helper", "toString", "afterPropertiesSet",
				"setBeanName", "close", "init", "find")) {
			assertThat(find(Annotated.class, other)).as(other).isNull();
		}
		assertThat(find(Annotated.class, "inherited")).isNotNull();
	}

	@Test
	void theInterfacesAnnotationHoldsForTheImplementation() {
		IdempotentOperation operation = operation(ApiImpl.class, "create");
		assertThat(operation.name()).isEqualTo(ApiImpl.class.getName() + ".create(java.lang.String)");
		assertThat(find(Api.class, ApiImpl.class, "create")).isEqualTo(operation);
		assertThat(find(ApiImpl.class, "other")).isNull();
	}

	@Test
	void argumentsMayHaveTheNamesOfTheInterface() {
		assertThat(operation(ApiImpl.class, "create").key().source()).isInstanceOf(KeySource.Spel.class);
		assertThat(operation(RenamingImpl.class, "create").key().source()).isInstanceOf(KeySource.Spel.class);
	}

	@Test
	void genericMethodsAreFoundThroughTheirBridges() throws Exception {
		IdempotentOperation operation = operation(StringHandler.class, "handle");
		assertThat(operation.guarded().method()).isEqualTo(StringHandler.class.getMethod("handle", String.class));
		Method bridge = StringHandler.class.getMethod("handle", Object.class);
		assertThat(bridge.isBridge()).isTrue();
		assertThat(this.source.operation(bridge, StringHandler.class)).isEqualTo(operation);
		assertThat(this.source.operation(Handler.class.getMethod("handle", Object.class), StringHandler.class))
			.isEqualTo(operation);
	}

	@Test
	void theSuperclasssAnnotationHoldsForTheOverridingMethod() {
		assertThat(operation(Sub.class, "run").name()).isEqualTo(Sub.class.getName() + ".run(java.lang.String)");
		assertThat(operation(Sub.class, "notOverridden").name())
			.isEqualTo(Sub.class.getName() + ".notOverridden(java.lang.String)");
		assertThat(operation(OtherSub.class, "notOverridden").name()).startsWith(OtherSub.class.getName());
	}

	@Test
	void anInheritedMethodMayImplementAnAnnotatedInterface() {
		assertThat(find(Base2.class, Inheriting.class, "create")).isNotNull();
		assertThat(find(Base2.class, Base2.class, "create")).isNull();
	}

	@Test
	void composedAnnotationsSetAttributes() {
		IdempotentOperation operation = operation(Composed.class, "run");
		assertThat(operation.options().mode()).isEqualTo(IdempotencyMode.REJECT);
		assertThat(operation.options().retention()).isEqualTo(Duration.ofDays(2));
		assertThat(operation.key().source()).hasToString("Spel[expression=The key expression '#id']");
		assertThat(operation(ComposedOnClass.class, "run").options().retention()).isEqualTo(Duration.ofHours(1));
	}

	@Test
	void aProxysClassMeansTheClassBehindIt() {
		org.springframework.aop.framework.ProxyFactory factory = new org.springframework.aop.framework.ProxyFactory(
				new Sub());
		factory.setProxyTargetClass(true);
		Class<?> generated = factory.getProxy().getClass();
		assertThat(find(Sub.class, generated, "run")).isEqualTo(operation(Sub.class, "run"));
	}

	@Test
	void defaultsAreThoseOfThePolicy() {
		IdempotencyOptions defaults = new IdempotencyOptions("defaults", IdempotencyMode.REPLAY, Duration.ofHours(1),
				Duration.ofSeconds(2), false, ConflictMode.WAIT, Duration.ofSeconds(3), FailureMode.REMEMBER,
				AbandonedMode.RERUN, false, true, List.of(), List.of(), StoreFailureMode.PROCEED);
		IdempotentOperation operation = source(defaults).operation(method(Annotated.class, "own"), Annotated.class);
		assertThat(operation).isNotNull();
		assertThat(operation.options())
			.isEqualTo(new IdempotencyOptions("own", IdempotencyMode.REPLAY, Duration.ofHours(1), Duration.ofSeconds(2),
					false, ConflictMode.WAIT, Duration.ofSeconds(3), FailureMode.REMEMBER, AbandonedMode.RERUN, false,
					true, List.of(), List.of(), StoreFailureMode.PROCEED));
		assertThat(operation.key().required()).isTrue();
		assertThat(operation.key().token()).isFalse();
		assertThat(operation.key().scope()).isNull();
		assertThat(operation.key().condition()).isNull();
		assertThat(operation.fingerprint()).isEqualTo(new FingerprintSource.None());
		assertThat(operation.result().recover()).isNull();
		assertThat(operation.place().transactions()).isNull();
	}

	@Test
	void everyAttributeIsTaken() throws Exception {
		IdempotentOperation operation = operation(Full.class, "run");
		assertThat(operation.options()).isEqualTo(
				new IdempotencyOptions("full", IdempotencyMode.REPLAY, Duration.ofDays(7), Duration.ofSeconds(10), true,
						ConflictMode.WAIT, Duration.ofMillis(700), FailureMode.REMEMBER, AbandonedMode.REJECT, true,
						true, List.of(IllegalStateException.class), List.of("uk_order"), StoreFailureMode.REJECT));
		assertThat(operation.key().source()).isEqualTo(new KeySource.Header("X-Key"));
		assertThat(operation.key().required()).isFalse();
		assertThat(operation.key().scope()).hasToString("The scope expression '#tenant'");
		assertThat(operation.fingerprint()).isInstanceOf(FingerprintSource.Spel.class);
		assertThat(operation.key().condition()).hasToString("The condition expression '#tenant != null'");
		assertThat(operation.result().recover()).isEqualTo(Full.class.getDeclaredMethod("find", String.class));
		assertThat(operation.result().type()).isEqualTo(String.class);
		assertThat(operation.result().async()).isFalse();
	}

	@Test
	void resultIsNotKeptWhereTheAnnotationSaysSo() {
		IdempotencyOptions policy = operation(Unkept.class, "run").options();
		assertThat(policy.keepResult()).isFalse();
		assertThat(policy.replays()).isFalse();
		assertThat(policy.mode()).isEqualTo(IdempotencyMode.REPLAY);
	}

	static class Unkept {

		@Idempotent(key = "#key", keepResult = false)
		public Object run(String key) {
			return key;
		}

	}

	@Test
	void workWithATransactionOfItsOwnIsApartFromItsCallers() {
		assertThat(isApart(Propagations.class, "requiresNew")).isTrue();
		assertThat(isApart(Propagations.class, "requiresNewInItsPackage")).isTrue();
		assertThat(isApart(Propagations.class, "notSupported")).isTrue();
		assertThat(isApart(Propagations.class, "required")).isFalse();
		assertThat(isApart(Propagations.class, "nested")).isFalse();
		assertThat(isApart(Propagations.class, "none")).isFalse();
		// It may be complete when it is returned.
		assertThat(isApart(Sub.class, "future")).isFalse();
	}

	@Test
	void transactionManagerThatIsMadeWhenItIsNeededIsNotMadeForACheck() {
		AtomicInteger made = new AtomicInteger();
		PlatformTransactionManager manager = mock(PlatformTransactionManager.class);
		given(manager.getTransaction(any())).willReturn(new SimpleTransactionStatus());
		RootBeanDefinition lazy = new RootBeanDefinition(PlatformTransactionManager.class, () -> {
			made.incrementAndGet();
			return manager;
		});
		lazy.setLazyInit(true);
		this.beanFactory.registerBeanDefinition("manager", lazy);
		IdempotentOperation operation = operation(Propagations.class, "required");
		assertThat(made).hasValue(0);
		assertThat(operation.place().surrounding().apply(null)).isNull();
		SurroundingTransaction current = mock(SurroundingTransaction.class);
		assertThat(operation.place().surrounding().apply(current)).isSameAs(current);
		assertThat(made).hasValue(1);
	}

	private boolean isApart(Class<?> type, String method) {
		TransactionSynchronizationManager.initSynchronization();
		TransactionSynchronizationManager.setActualTransactionActive(true);
		try {
			return operation(type, method).place().surrounding().apply(CallerTransaction.current()) == null;
		}
		finally {
			TransactionSynchronizationManager.clear();
		}
	}

	@Test
	void resultTypesAreResolvedAgainstTheClass() {
		assertThat(operation(Sub.class, "generic").result().type()).isEqualTo(Integer.class);
		assertThat(operation(Sub.class, "nested").result().type())
			.isEqualTo(new ParameterizedTypeReference<Map<String, List<Integer>>>() {
			}.getType());
		assertThat(operation(Sub.class, "array").result().type()).isEqualTo(Integer[].class);
		IdempotentOperation future = operation(Sub.class, "future");
		assertThat(future.result().async()).isTrue();
		assertThat(future.result().type()).isEqualTo(new ParameterizedTypeReference<List<Integer>>() {
		}.getType());
	}

	@Test
	void aCoveredMethodHasTheDefaultHeaderAndAnyResult() {
		this.beanFactory.registerSingleton("adapter", new HandlerAdapter("handle", "get"));
		IdempotentOperation operation = operation(Controller.class, "handle");
		assertThat(operation.key().source()).isEqualTo(new KeySource.Header("Idempotency-Key"));
		assertThat(operation.result().type()).isEqualTo(Object.class);
	}

	@Test
	void ofAClassWithHandlersOnlyTheseAreMeant() {
		this.beanFactory.registerSingleton("adapter", new HandlerAdapter("handle", "get"));
		assertThat(find(Controller.class, "get")).as("exempt").isNull();
		assertThat(find(Controller.class, "helper")).as("no handler").isNull();
		assertThat(find(Controller.class, "annotatedGet")).as("annotated itself").isNotNull();
	}

	private static Method method(Class<?> type, String name) {
		return ReflectionUtils.findMethod(type, name, (Class<?>[]) null);
	}

	static class Unannotated {

		public void run() {
		}

	}

	abstract static class Parent {

		public String inherited(String id) {
			return id;
		}

	}

	@Idempotent(key = "#p0", recover = "find")
	static class Annotated extends Parent implements InitializingBean, BeanNameAware, AutoCloseable {

		@Idempotent(key = "#id", operation = "own")
		public void own(String id) {
		}

		public String common(String id) {
			return id;
		}

		public String find(String id) {
			return id;
		}

		void packagePrivate(String id) {
		}

		protected void protectedMethod(String id) {
		}

		public static void helper(String id) {
		}

		@Override
		public String toString() {
			return "annotated";
		}

		@Override
		public void afterPropertiesSet() {
		}

		@Override
		public void setBeanName(String name) {
		}

		@Override
		public void close() {
		}

		@PostConstruct
		public void init() {
		}

		@Override
		public String inherited(String id) {
			return id;
		}

	}

	interface Api {

		@Idempotent("#id")
		String create(String id);

		String other(String id);

	}

	static class ApiImpl implements Api {

		@Override
		public String create(String id) {
			return id;
		}

		@Override
		public String other(String id) {
			return id;
		}

	}

	static class RenamingImpl implements Api {

		@Override
		public String create(String anotherName) {
			return anotherName;
		}

		@Override
		public String other(String id) {
			return id;
		}

	}

	static class Base2 {

		public String create(String id) {
			return id;
		}

		public String other(String id) {
			return id;
		}

	}

	static class Inheriting extends Base2 implements Api {

	}

	interface Handler<T> {

		@Idempotent("#p0")
		String handle(T value);

	}

	static class StringHandler implements Handler<String> {

		@Override
		public String handle(String value) {
			return value;
		}

	}

	static class Base<T> {

		@Idempotent("#id")
		public String run(String id) {
			return id;
		}

		@Idempotent("#id")
		public String notOverridden(String id) {
			return id;
		}

		@Idempotent("#id")
		public @Nullable T generic(String id) {
			return null;
		}

		@Idempotent("#id")
		public Map<String, List<T>> nested(String id) {
			return Map.of();
		}

		@Idempotent("#id")
		public T @Nullable [] array(String id) {
			return null;
		}

		@Idempotent("#id")
		public CompletableFuture<List<T>> future(String id) {
			return CompletableFuture.completedFuture(List.of());
		}

	}

	static class Sub extends Base<Integer> {

		@Override
		public String run(String id) {
			return id;
		}

	}

	static class OtherSub extends Base<Integer> {

	}

	@Target({ ElementType.METHOD, ElementType.TYPE })
	@Retention(RetentionPolicy.RUNTIME)
	@Idempotent(mode = IdempotencyMode.REJECT)
	@interface Once {

		@AliasFor(annotation = Idempotent.class, attribute = "key")
		String by() default "#p0";

		@AliasFor(annotation = Idempotent.class)
		String retention() default "1h";

	}

	static class Composed {

		@Once(by = "#id", retention = "2d")
		public void run(String id) {
		}

	}

	@Once
	static class ComposedOnClass {

		public void run(String id) {
		}

	}

	static class Full {

		@Idempotent(header = "X-Key", required = false, operation = "full", scope = "#tenant", fingerprint = "#tenant",
				retention = "7d", lease = "PT10S", conflict = ConflictMode.WAIT, waitTimeout = "700ms",
				onFailure = FailureMode.REMEMBER, duplicateOn = IllegalStateException.class,
				duplicateConstraint = "uk_order", recover = "find", onAbandoned = AbandonedMode.REJECT,
				condition = "#tenant != null")
		public String run(String tenant) {
			return tenant;
		}

		private String find(String tenant) {
			return tenant;
		}

	}

	@Idempotent
	static class Controller {

		public Object handle() {
			return "";
		}

		public Object get() {
			return "";
		}

		public Object helper() {
			return "";
		}

		@Idempotent(header = "X-Key")
		public String annotatedGet() {
			return "";
		}

	}

	/** Stands for the HTTP adapter. */
	private record HandlerAdapter(String handler, String safeHandler) implements InvocationAdapter {

		@Override
		public OperationTraits traits(Method method, Class<?> targetClass) {
			if (method.getName().equals(this.safeHandler)) {
				return OperationTraits.of(Flag.HANDLER, Flag.EXEMPT_FROM_CLASS);
			}
			return method.getName().equals(this.handler) ? OperationTraits.of(Flag.HANDLER) : OperationTraits.NONE;
		}

		@Override
		public boolean supports(OperationCall call) {
			return true;
		}

		@Override
		public @Nullable Object invoke(OperationCall call) throws Throwable {
			return call.run();
		}

	}

	static class Propagations {

		@Idempotent(key = "#key")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void requiresNew(String key) {
		}

		@Idempotent(key = "#key")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		void requiresNewInItsPackage(String key) {
		}

		@Idempotent(key = "#key")
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void notSupported(String key) {
		}

		@Idempotent(key = "#key")
		@Transactional
		public void required(String key) {
		}

		@Idempotent(key = "#key")
		@Transactional(propagation = Propagation.NESTED)
		public void nested(String key) {
		}

		@Idempotent(key = "#key")
		public void none(String key) {
		}

	}

}
