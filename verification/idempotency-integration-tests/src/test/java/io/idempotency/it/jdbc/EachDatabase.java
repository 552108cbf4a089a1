package io.idempotency.it.jdbc;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.idempotency.it.store.EachVariant;
import org.junit.jupiter.api.ClassTemplate;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Runs the class on each {@link Database} of some kinds. Its constructor takes a
 * {@link TestDatabase}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ClassTemplate
@ExtendWith(EachDatabase.Databases.class)
@interface EachDatabase {

	/** Of which kinds. */
	Database.Kind[] value() default Database.Kind.PRODUCT;

	/** Only those that have all of these. */
	Product.Trait[] having() default {};

	/** Others, too. */
	Database[] and() default {};

	/** On a server that the tests may harm. */
	boolean ownServer() default false;

	/** Finds them. */
	final class Databases extends EachVariant<TestDatabase> {

		Databases() {
			super(TestDatabase.class);
		}

		@Override
		protected Stream<Variant<TestDatabase>> variants(Class<?> testClass) {
			EachDatabase which = AnnotationSupport.findAnnotation(testClass, EachDatabase.class).orElseThrow();
			return Arrays.stream(Database.values()).filter((database) -> isOne(database, which)).map((database) -> {
				boolean usual = List.of(Database.Kind.PRODUCT, Database.Kind.DIALECT).contains(database.kind());
				return which.ownServer()
						? new Variant<>(database.name(), usual, database.product().serverBackend(),
								() -> TestDatabase.onOwnServer(database))
						: new Variant<>(database.name(), usual, database.product().backend(),
								() -> TestDatabase.open(database));
			});
		}

		private static boolean isOne(Database database, EachDatabase which) {
			boolean ofKind = List.of(which.value()).contains(database.kind())
					&& Arrays.stream(which.having()).allMatch(database.product()::has);
			return ofKind || List.of(which.and()).contains(database);
		}

	}

}
