// Answers one call of a function, whose type reflect says.

package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	prorlAnswer   = 3
	prorlQuestion = 4
	prorlMaxDepth = 100
)

// prorlWord is a number as it is written: which type it becomes is for a declaration to say.
type prorlWord string

type prorlMember struct {
	key   string
	value interface{}
}

type prorlReader struct {
	text string
	at   int
}

func (r *prorlReader) next() byte {
	for strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
	return r.text[r.at]
}

func (r *prorlReader) value() interface{} {
	switch r.next() {
	case '[':
		items := []interface{}{}
		for r.at++; r.next() != ']'; {
			if r.text[r.at] == ',' {
				r.at++
			}
			items = append(items, r.value())
		}
		r.at++
		return items
	case '{':
		members := []prorlMember{}
		for r.at++; r.next() != '}'; {
			if r.text[r.at] == ',' {
				r.at++
			}
			r.next()
			key := r.str()
			r.next()
			r.at++ // the colon
			members = append(members, prorlMember{key, r.value()})
		}
		r.at++
		return members
	case '"':
		return r.str()
	}
	start := r.at
	for r.at < len(r.text) && strings.IndexByte(",]} \n", r.text[r.at]) < 0 {
		r.at++
	}
	switch word := r.text[start:r.at]; word {
	case "null":
		return nil
	case "true", "false":
		return word == "true"
	default:
		return prorlWord(word)
	}
}

func (r *prorlReader) four() rune {
	code, _ := strconv.ParseUint(r.text[r.at:r.at+4], 16, 32)
	r.at += 4
	return rune(code)
}

func (r *prorlReader) str() string {
	var made strings.Builder
	for r.at++; r.text[r.at] != '"'; {
		c := r.text[r.at]
		r.at++
		if c != '\\' {
			made.WriteByte(c)
			continue
		}
		c = r.text[r.at]
		r.at++
		switch c {
		case 'b':
			made.WriteByte('\b')
		case 'f':
			made.WriteByte('\f')
		case 'n':
			made.WriteByte('\n')
		case 'r':
			made.WriteByte('\r')
		case 't':
			made.WriteByte('\t')
		case 'u':
			code := r.four()
			if utf16.IsSurrogate(code) && strings.HasPrefix(r.text[r.at:], "\\u") {
				r.at += 2
				code = utf16.DecodeRune(code, r.four())
			}
			made.WriteRune(code)
		default:
			made.WriteByte(c)
		}
	}
	r.at++
	return made.String()
}

func prorlMismatch(value interface{}, kind reflect.Type) error {
	switch shown := value.(type) {
	case nil:
		return fmt.Errorf("null is no %v", kind)
	case prorlWord:
		return fmt.Errorf("%.50s is no %v", string(shown), kind)
	case string:
		return fmt.Errorf("a text is no %v", kind)
	case bool:
		return fmt.Errorf("a boolean is no %v", kind)
	case []interface{}:
		return fmt.Errorf("a list is no %v", kind)
	}
	return fmt.Errorf("an object is no %v", kind)
}

func prorlReal(word prorlWord, bits int) (float64, error) {
	made, err := strconv.ParseFloat(string(word), bits)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // infinity or zero, as a conversion makes it
	}
	return made, err
}

// prorlFill makes target, which is settable, from a value that was read.
func prorlFill(target reflect.Value, value interface{}) error {
	kind := target.Type()
	mismatch := prorlMismatch(value, kind)
	if whole, ok := target.Addr().Interface().(*big.Int); ok {
		if word, is := value.(prorlWord); is {
			if _, fits := whole.SetString(string(word), 10); fits {
				return nil
			}
		}
		return mismatch
	}
	switch kind.Kind() {
	case reflect.Bool:
		truth, ok := value.(bool)
		if !ok {
			return mismatch
		}
		target.SetBool(truth)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if text, ok := value.(string); ok && kind.Kind() == reflect.Int32 && utf8.RuneCountInString(text) == 1 {
			code, _ := utf8.DecodeRuneInString(text) // a rune
			target.SetInt(int64(code))
			return nil
		}
		word, ok := value.(prorlWord)
		made, err := strconv.ParseInt(string(word), 10, kind.Bits())
		if !ok || err != nil {
			return mismatch
		}
		target.SetInt(made)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if text, ok := value.(string); ok && kind.Kind() == reflect.Uint8 && len(text) == 1 {
			target.SetUint(uint64(text[0])) // a byte of a text
			return nil
		}
		word, ok := value.(prorlWord)
		made, err := strconv.ParseUint(string(word), 10, kind.Bits())
		if !ok || err != nil {
			return mismatch
		}
		target.SetUint(made)
	case reflect.Float32, reflect.Float64:
		word, ok := value.(prorlWord)
		made, err := prorlReal(word, kind.Bits())
		if !ok || err != nil {
			return mismatch
		}
		target.SetFloat(made)
	case reflect.String:
		text, ok := value.(string)
		if !ok {
			return mismatch
		}
		target.SetString(text)
	case reflect.Slice:
		items, ok := value.([]interface{})
		if !ok {
			return mismatch
		}
		target.Set(reflect.MakeSlice(kind, len(items), len(items)))
		return prorlFillEach(target, items)
	case reflect.Array:
		items, ok := value.([]interface{})
		if !ok || len(items) != target.Len() {
			return mismatch
		}
		return prorlFillEach(target, items)
	case reflect.Map:
		members, ok := value.([]prorlMember)
		if !ok {
			return mismatch
		}
		target.Set(reflect.MakeMapWithSize(kind, len(members)))
		for _, member := range members {
			key, item := reflect.New(kind.Key()).Elem(), reflect.New(kind.Elem()).Elem()
			var name interface{} = member.key // an object's keys are text; a number's key is its text
			switch {
			case kind.Key().Kind() == reflect.Bool:
				name = member.key == "true"
			case kind.Key().Kind() != reflect.String && kind.Key().Kind() != reflect.Interface:
				if len(member.key) != 1 || member.key[0] <= '9' { // else a rune or a byte
					name = prorlWord(member.key)
				}
			}
			if err := prorlFill(key, name); err != nil {
				return err
			}
			if err := prorlFill(item, member.value); err != nil {
				return err
			}
			target.SetMapIndex(key, item)
		}
	case reflect.Ptr:
		if value == nil {
			return nil
		}
		target.Set(reflect.New(kind.Elem()))
		return prorlFill(target.Elem(), value)
	case reflect.Interface:
		made, err := prorlPlain(value)
		if err != nil || kind.NumMethod() > 0 {
			return mismatch
		}
		if made != nil {
			target.Set(reflect.ValueOf(made))
		}
	default:
		return mismatch
	}
	return nil
}

func prorlFillEach(target reflect.Value, items []interface{}) error {
	for i, item := range items {
		if err := prorlFill(target.Index(i), item); err != nil {
			return err
		}
	}
	return nil
}

// prorlPlain makes a value of no declared type: int, *big.Int, float64, text, []interface{} or
// map[string]interface{}.
func prorlPlain(value interface{}) (interface{}, error) {
	switch read := value.(type) {
	case prorlWord:
		if strings.Trim(string(read), "-0123456789") != "" {
			return prorlReal(read, 64)
		}
		if made, err := strconv.Atoi(string(read)); err == nil {
			return made, nil
		}
		made, _ := new(big.Int).SetString(string(read), 10)
		return made, nil
	case []interface{}:
		items := make([]interface{}, len(read))
		for i, item := range read {
			made, err := prorlPlain(item)
			if err != nil {
				return nil, err
			}
			items[i] = made
		}
		return items, nil
	case []prorlMember:
		members := map[string]interface{}{}
		for _, member := range read {
			made, err := prorlPlain(member.value)
			if err != nil {
				return nil, err
			}
			members[member.key] = made
		}
		return members, nil
	}
	return value, nil
}

func prorlText(out *strings.Builder, text string) error {
	if !utf8.ValidString(text) {
		return errors.New("a text that is no UTF-8 cannot leave the box")
	}
	out.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteRune(c)
		case c < 0x20:
			fmt.Fprintf(out, "\\u%04x", c)
		default:
			out.WriteRune(c)
		}
	}
	out.WriteByte('"')
	return nil
}

func prorlPut(out *strings.Builder, value reflect.Value, depth int) error {
	if depth > prorlMaxDepth {
		return fmt.Errorf("nested deeper than %d", prorlMaxDepth)
	}
	if !value.IsValid() {
		out.WriteString("null")
		return nil
	}
	if value.CanInterface() {
		switch whole := value.Interface().(type) {
		case *big.Int:
			if whole != nil {
				fmt.Fprintf(out, `{"t":"int","v":"%x"}`, whole)
				return nil
			}
		case big.Int:
			fmt.Fprintf(out, `{"t":"int","v":"%x"}`, &whole)
			return nil
		}
	}
	switch value.Kind() {
	case reflect.Bool:
		out.WriteString(strconv.FormatBool(value.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		out.WriteString(strconv.FormatInt(value.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		out.WriteString(strconv.FormatUint(value.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		number := value.Float()
		if math.IsNaN(number) || math.IsInf(number, 0) {
			word := "nan"
			if !math.IsNaN(number) {
				word = map[bool]string{true: "-inf", false: "inf"}[number < 0]
			}
			out.WriteString(`{"t":"float","v":"` + word + `"}`)
			return nil
		}
		digits := strconv.FormatFloat(number, 'g', -1, 64)
		out.WriteString(digits)
		if !strings.ContainsAny(digits, ".e") {
			out.WriteString(".0")
		}
	case reflect.String:
		return prorlText(out, value.String())
	case reflect.Slice, reflect.Array:
		out.WriteByte('[')
		for i := 0; i < value.Len(); i++ {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := prorlPut(out, value.Index(i), depth+1); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case reflect.Map:
		out.WriteString(`{"t":"dict","v":[`)
		for i, key := range value.MapKeys() {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteByte('[')
			if err := prorlPut(out, key, depth+1); err != nil {
				return err
			}
			out.WriteByte(',')
			if err := prorlPut(out, value.MapIndex(key), depth+1); err != nil {
				return err
			}
			out.WriteByte(']')
		}
		out.WriteString("]}")
	case reflect.Ptr, reflect.Interface:
		if value.IsNil() {
			out.WriteString("null")
			return nil
		}
		return prorlPut(out, value.Elem(), depth+1)
	default:
		return fmt.Errorf("a value of type %v cannot leave the box", value.Type())
	}
	return nil
}

func prorlSend(body string, code int) {
	size := len(body)
	head := []byte{byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)}
	channel := os.NewFile(prorlAnswer, "answer")
	channel.Write(append(head, body...))
	os.Exit(code)
}

func prorlFail(name string, err interface{}) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	prorlSend(`{"k":"raise","type":"`+name+`","memory":false}`, 1)
}

// prorlServe calls function with the arguments that were asked for and sends what it returns: one
// value, a list of several, and of a last error only whether there is one.
func prorlServe(function interface{}) {
	text, err := io.ReadAll(os.NewFile(prorlQuestion, "question"))
	if err != nil {
		prorlFail("OSError", err)
	}
	asked := (&prorlReader{text: string(text)}).value().([]prorlMember)
	nonce, given := asked[0].value.(string), asked[1].value.([]interface{})
	call := reflect.ValueOf(function)
	kind := call.Type()
	if kind.Kind() != reflect.Func {
		prorlFail("TypeError", "what is called is no function")
	}
	if kind.NumIn() != len(given) {
		prorlFail("TypeError", fmt.Sprintf("the function takes %d arguments, not %d", kind.NumIn(), len(given)))
	}
	arguments := make([]reflect.Value, len(given))
	for i, value := range given {
		arguments[i] = reflect.New(kind.In(i)).Elem()
		if err := prorlFill(arguments[i], value); err != nil {
			prorlFail("TypeError", err)
		}
	}
	var results []reflect.Value
	if kind.IsVariadic() {
		results = call.CallSlice(arguments)
	} else {
		results = call.Call(arguments)
	}
	if last := len(results) - 1; last >= 0 && kind.Out(last) == reflect.TypeOf((*error)(nil)).Elem() {
		if !results[last].IsNil() {
			prorlFail("error", results[last].Interface())
		}
		results = results[:last]
	}
	var out strings.Builder
	out.WriteString(`{"k":"value","v":`)
	err = nil
	switch len(results) {
	case 0:
		out.WriteString("null")
	case 1:
		err = prorlPut(&out, results[0], 0)
	default:
		for i, result := range results {
			out.WriteString(map[bool]string{true: "[", false: ","}[i == 0])
			if err = prorlPut(&out, result, 1); err != nil {
				break
			}
		}
		out.WriteByte(']')
	}
	if err != nil {
		var why strings.Builder
		prorlText(&why, err.Error())
		prorlSend(`{"k":"unserialisable","text":`+why.String()+`}`, 1)
	}
	prorlSend(out.String()+`,"n":"`+nonce+`"}`, 0)
}
