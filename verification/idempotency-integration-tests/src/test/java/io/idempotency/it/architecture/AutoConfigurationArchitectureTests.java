package io.idempotency.it.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.idempotency.Internal;
import io.idempotency.autoconfigure.IdempotencyGuardConfiguration;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.Configuration;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Auto-configurations are found by name and are no API: nobody calls or extends them.
 */
@AnalyzeClasses(packages = { "io.idempotency.autoconfigure", "io.idempotency.ai", "io.idempotency.client",
		"io.idempotency.graphql", "io.idempotency.messaging", "io.idempotency.openapi", "io.idempotency.store.r2dbc" },
		importOptions = ImportOption.DoNotIncludeTests.class)
class AutoConfigurationArchitectureTests {

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching("io.idempotency.(**)").should().beFreeOfCycles();

	@ArchTest
	static void noPackageHasALargeCircleOfClasses(JavaClasses classes) {
		assertThat(PackageCircles.largerThan(3, classes)).isEmpty();
	}

	@ArchTest
	static final ArchRule autoConfigurationsArePublicAndFinal = classes().that()
		.areAnnotatedWith(AutoConfiguration.class)
		.should()
		.bePublic()
		.andShould()
		.haveModifier(JavaModifier.FINAL)
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule configurationsHaveNoPublicMethods = methods().that()
		.areDeclaredInClassesThat()
		.areMetaAnnotatedWith(Configuration.class)
		.should()
		.notBePublic()
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule nestedConfigurationsAreNotPublic = classes().that()
		.areAnnotatedWith(Configuration.class)
		// Which an application imports into a child context.
		.and()
		.doNotBelongToAnyOf(IdempotencyGuardConfiguration.class)
		// Which another package of the starter imports.
		.and()
		.areNotAnnotatedWith(Internal.class)
		.should()
		.notBePublic()
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule beanMethodsAreNotPrivate = methods().that()
		.areAnnotatedWith(Bean.class)
		.should()
		.notBePrivate()
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule conditionsAreNotPublic = classes().that()
		.areAssignableTo(Condition.class)
		.should()
		.notBePublic()
		.allowEmptyShould(true);

}
