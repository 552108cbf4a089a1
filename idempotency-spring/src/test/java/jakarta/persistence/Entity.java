package jakarta.persistence;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Stands for the annotation of JPA, which this module does not know. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Entity {

}
