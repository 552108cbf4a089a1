package io.idempotency.it.architecture;

import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.regex.Pattern;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.idempotency.Internal;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.reactor.ReactiveIdempotencyContext;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.reactor.ReactiveIdempotencyTemplate;
import io.idempotency.store.sql.RecordCleanup;
import io.idempotency.web.IdempotencyScopeResolver;
import io.idempotency.webflux.ReactiveIdempotencyScopeResolver;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import org.jspecify.annotations.NullMarked;

import org.springframework.core.annotation.AliasFor;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noCodeUnits;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Imports go one way, so that the protocol can be read, tested and trusted without the
 * adapters and the stores around it.
 */
@AnalyzeClasses(packages = "io.idempotency", importOptions = { ImportOption.DoNotIncludeTests.class,
		ArchitectureTests.DoNotIncludeTestKit.class, ArchitectureTests.DoNotIncludeStarter.class })
class ArchitectureTests {

	@ArchTest
	static final ArchRule layersUseOnlyWhatStandsAboveThem = layeredArchitecture().consideringOnlyDependenciesInLayers()
		.withOptionalLayers(true)
		.layer("api")
		.definedBy("io.idempotency")
		.layer("key")
		.definedBy("io.idempotency.key..")
		.layer("store")
		.definedBy("io.idempotency.store")
		.layer("heap")
		.definedBy("io.idempotency.store.memory..")
		.layer("stores")
		.definedBy("io.idempotency.store.redis..", "io.idempotency.store.jdbc..", "io.idempotency.store.sql..",
				"io.idempotency.store.r2dbc..")
		.layer("engine")
		.definedBy("io.idempotency.engine..")
		.layer("reactor")
		.definedBy("io.idempotency.reactor..")
		.layer("observation")
		.definedBy("io.idempotency.observation..")
		.layer("codec")
		.definedBy("io.idempotency.codec..")
		.layer("interceptor")
		.definedBy("io.idempotency.interceptor..")
		.layer("http")
		.definedBy("io.idempotency.http..")
		.layer("web")
		.definedBy("io.idempotency.web..")
		.layer("webflux")
		.definedBy("io.idempotency.webflux..")
		.layer("client")
		.definedBy("io.idempotency.client..")
		.layer("messaging")
		.definedBy("io.idempotency.messaging..")
		.layer("ai")
		.definedBy("io.idempotency.ai..")
		.layer("graphql")
		.definedBy("io.idempotency.graphql..")
		.layer("openapi")
		.definedBy("io.idempotency.openapi..")
		.whereLayer("api")
		.mayNotAccessAnyLayer()
		.whereLayer("key")
		.mayOnlyAccessLayers("api")
		.whereLayer("store")
		.mayOnlyAccessLayers("api", "key")
		.whereLayer("heap")
		.mayOnlyAccessLayers("api", "key", "store")
		.whereLayer("stores")
		.mayOnlyAccessLayers("api", "key", "store", "reactor")
		.whereLayer("engine")
		.mayOnlyAccessLayers("api", "key", "store", "codec")
		.whereLayer("reactor")
		.mayOnlyAccessLayers("api", "key", "store", "heap", "codec", "engine")
		.whereLayer("observation")
		.mayOnlyAccessLayers("api", "key", "store", "heap", "engine")
		.whereLayer("codec")
		.mayOnlyAccessLayers("api", "key", "store")
		.whereLayer("interceptor")
		.mayOnlyAccessLayers("api", "key", "store", "codec", "engine", "reactor")
		.whereLayer("http")
		.mayOnlyAccessLayers("api", "key", "store", "codec", "engine", "interceptor")
		.whereLayer("web")
		.mayOnlyAccessLayers("api", "key", "store", "codec", "engine", "interceptor", "http")
		.whereLayer("webflux")
		.mayOnlyAccessLayers("api", "key", "store", "codec", "engine", "reactor", "interceptor", "http")
		.whereLayer("messaging")
		.mayOnlyAccessLayers("api", "key", "store", "codec", "engine", "interceptor")
		.whereLayer("ai")
		.mayOnlyAccessLayers("api", "key", "codec", "engine", "interceptor")
		.whereLayer("graphql")
		.mayOnlyAccessLayers("api", "key", "store", "codec", "engine", "interceptor")
		.whereLayer("client")
		.mayOnlyAccessLayers("api", "key")
		.whereLayer("openapi")
		.mayOnlyAccessLayers("api", "engine", "interceptor", "http")
		.whereLayer("messaging")
		.mayNotBeAccessedByAnyLayer()
		.whereLayer("ai")
		.mayNotBeAccessedByAnyLayer()
		.whereLayer("graphql")
		.mayNotBeAccessedByAnyLayer()
		.whereLayer("client")
		.mayNotBeAccessedByAnyLayer()
		.whereLayer("openapi")
		.mayNotBeAccessedByAnyLayer();

	@ArchTest
	static final ArchRule everyPackageHasALayer = classes().should(resideIn("io.idempotency", "io.idempotency.key..",
			"io.idempotency.store..", "io.idempotency.engine..", "io.idempotency.reactor..",
			"io.idempotency.observation..", "io.idempotency.codec..", "io.idempotency.interceptor..",
			"io.idempotency.http..", "io.idempotency.web..", "io.idempotency.webflux..", "io.idempotency.messaging..",
			"io.idempotency.graphql..", "io.idempotency.client..", "io.idempotency.ai..", "io.idempotency.openapi.."));

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching("io.idempotency.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule storesDoNotKnowEachOther = slices().matching("io.idempotency.store.(*)..")
		.should()
		.notDependOnEachOther()
		.ignoreDependency(DescribedPredicate.alwaysTrue(), resideInAPackage("io.idempotency.store.sql"))
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule apiNeedsTheJdkAndAnnotationsOnly = classes().that()
		.resideInAPackage("io.idempotency")
		.should()
		.onlyDependOnClassesThat(
				resideInAnyPackage("io.idempotency", "java..", "org.jspecify..").or(equivalentTo(AliasFor.class)));

	@ArchTest
	static final ArchRule protocolKnowsNoFramework = noClasses().that()
		.resideInAnyPackage("io.idempotency.key..", "io.idempotency.store", "io.idempotency.engine..",
				"io.idempotency.reactor..", "io.idempotency.store.memory..", "io.idempotency.store.sql..")
		.should()
		.dependOnClassesThat(
				resideInAnyPackage("org.springframework..", "jakarta..", "com.fasterxml.jackson..", "tools.jackson.."));

	/** JDBC and R2DBC share it. */
	@ArchTest
	static final ArchRule statementsKnowNoDriver = noClasses().that()
		.resideInAPackage("io.idempotency.store.sql..")
		.should()
		.dependOnClassesThat(resideInAnyPackage("java.sql..", "javax.sql..", "io.r2dbc..", "reactor..",
				"io.idempotency.store.jdbc.."));

	/** An integration has its auto-configuration and its properties. */
	@ArchTest
	static final ArchRule springBootBelongsToAutoConfigurations = noClasses().that(not(nameMatching(
			"io\\.idempotency\\.(ai|client|graphql|messaging|openapi|store\\.r2dbc)\\.\\w+(AutoConfiguration|Properties)(\\$.*)?")))
		.should()
		.dependOnClassesThat(resideInAPackage("org.springframework.boot.."));

	/** A call that blocks is read and tested without Reactor. */
	@ArchTest
	static final ArchRule onlyWhatAnswersWithReactorKnowsReactor = noClasses()
		.that(not(resideInAnyPackage("io.idempotency.reactor..", "io.idempotency.client..", "io.idempotency.webflux..",
				"io.idempotency.graphql..")))
		.and(not(nameMatching(
				"io\\.idempotency\\.interceptor\\..*(Reactive|Publish|Subscribed|SurroundingTransactions).*")))
		.and(not(nameMatching("io\\.idempotency\\.store\\.(r2dbc\\.|.*\\.Reactive).*")))
		.should()
		.dependOnClassesThat(resideInAnyPackage("reactor..", "org.reactivestreams.."));

	@ArchTest
	static final ArchRule onlyTheWebMvcAdapterKnowsServlets = noClasses()
		.that(not(resideInAnyPackage("io.idempotency.web..")))
		.should()
		.dependOnClassesThat(resideInAPackage("jakarta.servlet.."));

	@ArchTest
	static final ArchRule onlyTheCallersSideKnowsClients = noClasses()
		.that(not(resideInAnyPackage("io.idempotency.client..")))
		.should()
		.dependOnClassesThat(resideInAnyPackage("org.springframework.http.client..", "org.springframework.web.client..",
				"org.springframework.web.reactive.function.client..", "feign.."));

	@ArchTest
	static final ArchRule onlyTheWebFluxAdapterKnowsIt = noClasses()
		.that(not(resideInAnyPackage("io.idempotency.webflux..", "io.idempotency.client..")))
		.should()
		.dependOnClassesThat(resideInAnyPackage("org.springframework.web.reactive..",
				"org.springframework.web.server..", "org.springframework.http.server.reactive.."));

	@ArchTest
	static final ArchRule onlyObservationsKnowMicrometer = noClasses()
		.that(not(resideInAnyPackage("io.idempotency.observation..")))
		.should()
		.dependOnClassesThat(resideInAPackage("io.micrometer..").and(not(resideInAPackage("io.micrometer.context.."))));

	@ArchTest
	static final ArchRule onlyContextsOfCallersKnowContextPropagation = noClasses()
		.that(not(nameMatching(".*\\.(GuardedInvocation\\$CallerContext(\\$.*)?|IdempotencyContextAccessor)")))
		.should()
		.dependOnClassesThat(resideInAPackage("io.micrometer.context.."));

	@ArchTest
	static final ArchRule onlyMessagingKnowsBrokers = noClasses()
		.that(not(resideInAnyPackage("io.idempotency.messaging..")))
		.should()
		.dependOnClassesThat(resideInAnyPackage("org.springframework.kafka..", "org.apache.kafka..",
				"org.springframework.amqp..", "com.rabbitmq..", "org.springframework.jms..", "jakarta.jms..",
				"org.springframework.messaging.."));

	@ArchTest
	static final ArchRule onlyTheToolAdapterKnowsAgents = noClasses()
		.that(not(resideInAnyPackage("io.idempotency.ai..")))
		.should()
		.dependOnClassesThat(resideInAnyPackage("org.springframework.ai..", "io.modelcontextprotocol.."));

	@ArchTest
	static final ArchRule onlyAdaptersKnowJackson = noClasses()
		.that(not(
				resideInAnyPackage("io.idempotency.codec..", "io.idempotency.http..", "io.idempotency.interceptor..")))
		.should()
		.dependOnClassesThat(resideInAnyPackage("com.fasterxml.jackson..", "tools.jackson.."));

	/** A key without its namespace is one that another service may have, too. */
	@ArchTest
	static final ArchRule keysAreMadeByTheirNamespace = noClasses().that(not(equivalentTo(IdempotencyKey.class)))
		.should()
		.callMethodWhere(DescribedPredicate.describe("a key is made in no namespace",
				(call) -> call.getTargetOwner().isEquivalentTo(IdempotencyKey.class)
						&& call.getName().startsWith("of")));

	/** A record in a store is data from outside: it never decides which class is made. */
	@ArchTest
	static final ArchRule noJavaSerialization = noClasses().should()
		.dependOnClassesThat(assignableTo(ObjectInputStream.class).or(assignableTo(ObjectOutputStream.class))
			.or(assignableTo(ObjectInputFilter.class))
			.or(nameMatching("java\\.beans\\.XML(En|De)coder"))
			.or(nameMatching("org\\.springframework\\.(core\\.serializer\\..*|util\\.SerializationUtils)"))
			.or(nameMatching("org\\.springframework\\.data\\.redis\\.serializer\\.JdkSerializationRedisSerializer")));

	/**
	 * The wall clock is set while an application runs, so no lease and no retention may
	 * count by it. A look of Redis reads it only to leave a record to the claim: the
	 * server itself gives nothing that has expired.
	 */
	@ArchTest
	static final ArchRule wallClockIsForDates = noClasses()
		.that(not(nameMatching(".*[.$](SteadyClock|ClaimId|RedisIdempotencyStore)|.*\\.client\\.Timing\\$.*")))
		.should()
		.callMethodWhere(DescribedPredicate.describe("the wall clock is read",
				(call) -> call.getTargetOwner().getPackageName().equals("java.time")
						&& call.getName().matches("now|system.*|tick.*")
						|| call.getName().equals("currentTimeMillis")));

	@ArchTest
	static final ArchRule noPolymorphicJson = noClasses().should()
		.callMethodWhere(DescribedPredicate.describe("default typing is switched on",
				(call) -> call.getName().endsWith("DefaultTyping") && !call.getName().startsWith("deactivate")));

	@ArchTest
	static final ArchRule packagesAreNullMarked = classes().should(new ArchCondition<>("be in a @NullMarked package") {

		@Override
		public void check(JavaClass type, ConditionEvents events) {
			boolean marked = type.getPackage().tryGetAnnotationOfType(NullMarked.class).isPresent();
			events.add(new SimpleConditionEvent(type, marked,
					type.getName() + " is in a package whose package-info has no @NullMarked"));
		}

	});

	/** What an application may name of the packages that make the library work. */
	@ArchTest
	static final ArchRule whatOnlyPackagesNeedIsMarkedAsInternal = classes().that()
		.resideInAnyPackage("io.idempotency.engine..", "io.idempotency.reactor..", "io.idempotency.store.sql..",
				"io.idempotency.interceptor..", "io.idempotency.http..", "io.idempotency.web..",
				"io.idempotency.webflux..", "io.idempotency.messaging..", "io.idempotency.ai..",
				"io.idempotency.graphql..")
		.and()
		.arePublic()
		.and()
		.areTopLevelClasses()
		.and(not(equivalentTo(IdempotencyScopeResolver.class))
			.and(not(equivalentTo(ReactiveIdempotencyScopeResolver.class)))
			.and(not(equivalentTo(ReactiveIdempotencyStore.class)))
			.and(not(equivalentTo(ReactiveIdempotencyContext.class)))
			.and(not(equivalentTo(ReactiveIdempotencyTemplate.class)))
			.and(not(equivalentTo(ReactiveIdempotencyTokens.class)))
			.and(not(equivalentTo(OnDisconnect.class)))
			.and(not(equivalentTo(RecordCleanup.class)))
			.and(not(nameMatching(".*\\.(IdempotentRoutes?|KafkaBackOff|\\w+AutoConfiguration)"))))
		.should()
		.beAnnotatedWith(Internal.class);

	@ArchTest
	static final ArchRule nothingInternalIsSeenFromOutside = noCodeUnits().that()
		.arePublic()
		.and()
		.areNotAnnotatedWith(Internal.class)
		.and()
		.areDeclaredInClassesThat(isPublished())
		.should(ArchCondition
			.from(DescribedPredicate.describe("name an internal type", (unit) -> isInternal(unit.getRawReturnType())
					|| unit.getRawParameterTypes().stream().anyMatch(ArchitectureTests::isInternal))));

	@ArchTest
	static void noPackageHasALargeCircleOfClasses(JavaClasses classes) {
		assertThat(PackageCircles.largerThan(3, classes)).isEmpty();
	}

	private static DescribedPredicate<JavaClass> isPublished() {
		return DescribedPredicate.describe("are published",
				(type) -> type.getModifiers().contains(JavaModifier.PUBLIC)
						&& !outermost(type).isAnnotatedWith(Internal.class)
						&& outermost(type).getModifiers().contains(JavaModifier.PUBLIC));
	}

	private static boolean isInternal(JavaClass type) {
		return type.isAnnotatedWith(Internal.class) || outermost(type).isAnnotatedWith(Internal.class);
	}

	private static JavaClass outermost(JavaClass type) {
		return type.getEnclosingClass().map(ArchitectureTests::outermost).orElse(type);
	}

	private static ArchCondition<JavaClass> resideIn(String... packages) {
		return ArchCondition.from(resideInAnyPackage(packages));
	}

	/** The test kit and the classes of other tests have other rules. */
	static final class DoNotIncludeTestKit implements ImportOption {

		@Override
		public boolean includes(Location location) {
			return !location.matches(Pattern.compile(".*/idempotency-test[-/].*"));
		}

	}

	/** The rules of the starter are in {@code AutoConfigurationArchitectureTests}. */
	static final class DoNotIncludeStarter implements ImportOption {

		@Override
		public boolean includes(Location location) {
			return !location.contains("/io/idempotency/autoconfigure/");
		}

	}

}
